/**
 * The name under which nodes list an image: one without a tag or digest is `latest` (imagelocality normalizedImageName).
 * A colon before the last slash belongs to a port.
 */
export function normalizeImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
