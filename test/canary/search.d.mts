export interface CanaryHit {
  form: string;
  at: number;
  around: string;
}

export interface Spelling {
  form: string;
  bytes: Buffer;
}

export const CORE: string;
export const SPELLINGS: Spelling[];
export function spellingsOf(secret: string): Spelling[];
export function findCanaries(bytes: Uint8Array, spellings?: readonly Spelling[]): CanaryHit[];
