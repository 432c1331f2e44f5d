import { type PageFiles, PageMissingError, readPageFiles } from '../adapters/http/page-files.ts';
import { Failure } from './failure.ts';

/** Where the built page is, seen from the bundle and from the sources. */
const FOLDER: URL = new URL(import.meta.url.endsWith('.ts') ? '../../dist/page/' : './page/', import.meta.url);

/** Reads the page that `npm run build` has written beside the bundle. Throws a Failure when it is not there. */
export async function loadPage(): Promise<PageFiles> {
  try {
    return await readPageFiles(FOLDER);
  } catch (error) {
    throw error instanceof PageMissingError ? new Failure(error.message, 1, { cause: error }) : error;
  }
}
