/** `mod.` marks providers that are mods; `.` and `..` cannot be addressed, because URL parsers resolve them away. */
export const AGENT_ID = /^(?!mod\.|\.{1,2}$)[A-Za-z0-9._-]{1,96}$/;
export const AGENT_ID_HINT =
  'must have 1 to 96 characters of A-Z a-z 0-9 . _ - and must not start with "mod." or be "." or ".."';
