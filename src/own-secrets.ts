import { Redactor } from './redactor.js';

/** Warren's own secrets (database password, keyring, admin key): always part of what is redacted from any output. */
export class OwnSecrets {
  readonly redactor: Redactor;

  constructor(secrets: readonly string[]) {
    this.redactor = new Redactor(secrets);
  }
}
