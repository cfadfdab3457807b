/** The rules that the architecture test enforces. */
export type Rule =
  | 'too-few-files'
  | 'unknown-room'
  | 'upward-import'
  | 'private-repository'
  | 'sql-outside-repository'
  | 'package-owner'
  | 'environment'
  | 'console'
  | 'output'
  | 'import-cycle'
  | 'barrel'
  | 'folder-name'
  | 'forward-ref'
  | 'file-length'
  | 'bare-assertion';

/** One broken rule; `file` is a path from the root of the repository. */
export interface Violation {
  rule: Rule;
  file: string;
  detail: string;
}
