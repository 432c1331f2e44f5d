/**
 * An object of the client library's models as it is sent: its times are texts. For `satisfies`, so that the compiler checks the
 * fields of what we send against the API.
 */
export type SentJson<Model> = Model extends Date
  ? string
  : Model extends readonly (infer Item)[]
    ? readonly SentJson<Item>[]
    : Model extends object
      ? { readonly [Key in keyof Model]: SentJson<Model[Key]> }
      : Model;
