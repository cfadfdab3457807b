import type { Migration } from '../src/migrator.js';
import { access } from './0001-access.js';
import { connections } from './0002-connections.js';
import { catalog } from './0003-catalog.js';
import { grants } from './0004-grants.js';
import { calls } from './0005-calls.js';
import { admission } from './0006-admission.js';
import { legacyEvents } from './0007-legacy-events.js';
import { callCancellations } from './0008-call-cancellations.js';
import { audit } from './0009-audit.js';
import { secretRotation } from './0010-secret-rotation.js';
import { oauthAdmission } from './0011-oauth-admission.js';

/** Every migration in order. Steps are only ever added; a landed step is never edited. */
export const migrations: readonly Migration[] = [
  access,
  connections,
  catalog,
  grants,
  calls,
  admission,
  legacyEvents,
  callCancellations,
  audit,
  secretRotation,
  oauthAdmission,
];
