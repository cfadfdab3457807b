import { CatalogWarningAnswer } from '../connections/connection.answer.js';
import { problemCatalogue, type ProblemCode } from '../errors.js';
import { BooleanField, ChoiceField, IntegerField, NestedField, TextField } from '../field.decorators.js';

/** Most connections one request may name. */
const MAX_IDS = 1_000;

export class DiscoverBody {
  @TextField({
    optional: true,
    nullable: true,
    maxItems: MAX_IDS,
    max: 96,
    description: 'Default: every enabled connection',
  })
  ids?: string[] | null;
}

/** What a discovery found. */
export class Discovery {
  @TextField({ max: 96 })
  connectionId: string;

  @IntegerField({ min: 1, description: 'Counts the discoveries of this connection that succeeded' })
  revision: number;

  @IntegerField({ min: 0 })
  toolCount: number;

  @IntegerField({ min: 0, description: 'Tools that were not in the catalog before' })
  added: number;

  @IntegerField({ min: 0, description: 'Tools that left the catalog; grants of them stay' })
  removed: number;

  @IntegerField({ min: 0, description: 'Tools whose definition hash is another one' })
  changed: number;

  @NestedField(() => CatalogWarningAnswer, { maxItems: 203 })
  warnings: CatalogWarningAnswer[];

  @IntegerField({ min: 0 })
  durationMs: number;
}

export class DiscoveryFailure {
  @ChoiceField({ choices: Object.keys(problemCatalogue) })
  code: ProblemCode;

  @TextField({ optional: true, max: 100, description: 'Why the provider could not be reached' })
  reason?: string;

  @TextField({ max: 4_000 })
  detail: string;
}

/** The outcome for one connection: `discovery` when `ok`, else `error`. */
export class DiscoveryOutcome {
  @TextField({ max: 96 })
  connectionId: string;

  @BooleanField()
  ok: boolean;

  @NestedField(() => Discovery, { optional: true })
  discovery?: Discovery;

  @NestedField(() => DiscoveryFailure, { optional: true })
  error?: DiscoveryFailure;
}

export class DiscoveryOutcomesAnswer {
  @NestedField(() => DiscoveryOutcome, { maxItems: 100_000 })
  items: DiscoveryOutcome[];
}
