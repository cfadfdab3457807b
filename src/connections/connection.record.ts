import type { CatalogSummary, LastKnown, LearnedEra, SecretKind } from '../database.schema.js';
import type { ConnectionSettings } from './connection.settings.js';

/** What is known of a secret value without opening it, found when it was saved. */
export type SecretFlag = 'placeholder' | 'short';

/** That a secret is stored; never its value. */
export interface SecretMark {
  kind: SecretKind;
  name: string;
  /** Place in the list it was saved in. */
  position: number;
  flags: SecretFlag[];
}

/** A connection as stored, without secret values. */
export interface ConnectionRecord extends ConnectionSettings {
  id: string;
  secrets: SecretMark[];
  /** Counts accepted changes; the ETag. */
  revision: number;
  /** New whenever live sessions must end; never the same twice on one database. */
  launchRevision: number;
  era: LearnedEra | null;
  catalog: CatalogSummary | null;
  lastKnown: LastKnown | null;
  createdAt: Date;
  updatedAt: Date;
}
