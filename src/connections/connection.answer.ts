import type { LastKnown, Lifecycle, SessionScope, Transport } from '../database.schema.js';
import {
  BooleanField,
  ChoiceField,
  IntegerField,
  NestedField,
  SchemaField,
  TextField,
  TimeField,
} from '../field.decorators.js';
import { providerFailureReasons, type ProviderFailureReason } from '../provider-failure.js';
import type { ConnectionWarningCode } from './connection.warnings.js';
import { liveStates, type LiveStateName } from './session/live-state.js';

/** That a named secret is stored; its value is never answered. */
export class ConfiguredAnswer {
  @TextField({ max: 128 })
  name: string;

  @BooleanField({ description: 'Always true' })
  configured: boolean;
}

export class ConnectionWarningAnswer {
  @TextField({ max: 200, description: 'Dotted path with indices, e.g. headers[0].value' })
  field: string;

  @TextField({ max: 100, description: 'Stable snake_case code' })
  code: ConnectionWarningCode;

  @TextField({ max: 2_000 })
  message: string;
}

export class CatalogWarningAnswer {
  @TextField({ max: 512, optional: true })
  tool?: string;

  @TextField({ max: 100, description: 'Stable snake_case code' })
  code: string;

  @TextField({ max: 2_000 })
  message: string;
}

export class CatalogSummaryAnswer {
  @IntegerField({ min: 1 })
  revision: number;

  @TimeField()
  discoveredAt: string;

  @IntegerField({ min: 0 })
  toolCount: number;

  @TextField({ max: 100, nullable: true })
  protocolVersion: string | null;

  @TextField({ max: 1_000, nullable: true })
  serverName: string | null;

  @TextField({ max: 1_000, nullable: true })
  serverVersion: string | null;

  @NestedField(() => CatalogWarningAnswer, { maxItems: 201 })
  warnings: CatalogWarningAnswer[];
}

export class ProviderProcessAnswer {
  @IntegerField({ min: 1 })
  pid: number;

  @TimeField()
  since: string;
}

export class LiveStateAnswer {
  @ChoiceField({ choices: liveStates })
  state: LiveStateName;

  @TimeField()
  since: string;

  @ChoiceField({ optional: true, choices: providerFailureReasons })
  reason?: ProviderFailureReason;

  @NestedField(() => ProviderProcessAnswer, {
    optional: true,
    maxItems: 10_000,
    description: 'Living provider processes, for stdio',
  })
  processes?: ProviderProcessAnswer[];
}

export class LastKnownAnswer {
  @ChoiceField({ choices: ['starting', 'ready', 'unavailable', 'stopped'] })
  status: LastKnown['status'];

  @TimeField()
  at: string;

  @TextField({ optional: true, max: 100 })
  reason?: string;
}

/** A secret launch argument as answered. */
export interface SecretArgumentAnswer {
  secret: string;
  configured: boolean;
}

const argumentsSchema = {
  type: 'array',
  maxItems: 100,
  items: {
    oneOf: [
      { type: 'string' },
      {
        type: 'object',
        required: ['secret', 'configured'],
        properties: { secret: { type: 'string' }, configured: { type: 'boolean' } },
      },
    ],
  },
};

/** A saved connection, without secret values. Fields of the other transport are null or empty. */
export class ConnectionAnswer {
  @TextField({ max: 96 })
  id: string;

  @TextField({ max: 120 })
  name: string;

  @ChoiceField({ choices: ['http', 'stdio'] })
  transport: Transport;

  @TextField({ max: 2_048, nullable: true })
  baseUrl: string | null;

  @NestedField(() => ConfiguredAnswer, { maxItems: 50 })
  queryParameters: ConfiguredAnswer[];

  @BooleanField()
  apiKeyConfigured: boolean;

  @NestedField(() => ConfiguredAnswer, { maxItems: 50 })
  headers: ConfiguredAnswer[];

  @TextField({ max: 240, nullable: true })
  command: string | null;

  @SchemaField({ schema: argumentsSchema })
  args: (string | SecretArgumentAnswer)[];

  @TextField({ max: 4_096, nullable: true })
  cwd: string | null;

  @NestedField(() => ConfiguredAnswer, { maxItems: 200 })
  environmentVariables: ConfiguredAnswer[];

  @ChoiceField({ choices: ['ephemeral', 'keep_alive'] })
  lifecycle: Lifecycle;

  @BooleanField()
  enabled: boolean;

  @IntegerField({ min: 1, max: 300_000 })
  connectTimeoutMs: number;

  @IntegerField({ min: 1, max: 300_000 })
  callTimeoutMs: number;

  @IntegerField({ min: 1, max: 64 })
  maxConcurrentCalls: number;

  @IntegerField({ min: 1_000, max: 10_000_000 })
  maxResultChars: number;

  @ChoiceField({ choices: ['connection', 'agent'] })
  sessionScope: SessionScope;

  @IntegerField({ min: 1, max: 64 })
  maxSessions: number;

  @TextField({ max: 609, maxItems: 100 })
  sealedAudience: string[];

  @TextField({ max: 512, maxItems: 5_000, nullable: true, description: 'null: no filter' })
  allowTools: string[] | null;

  @TextField({ max: 512, maxItems: 5_000, nullable: true, description: 'null: no filter' })
  denyTools: string[] | null;

  @BooleanField()
  sealsValues: boolean;

  @NestedField(() => ConnectionWarningAnswer, { maxItems: 1_000 })
  warnings: ConnectionWarningAnswer[];

  @NestedField(() => CatalogSummaryAnswer, { nullable: true, description: 'Last discovery; null: never discovered' })
  catalog: CatalogSummaryAnswer | null;

  @NestedField(() => LiveStateAnswer, { description: 'What the replica that answers knows itself' })
  live: LiveStateAnswer;

  @NestedField(() => LastKnownAnswer, { nullable: true, description: 'The stored receipt; no proof of life' })
  lastKnown: LastKnownAnswer | null;

  @IntegerField({ min: 1, description: 'Counts changes; the ETag' })
  revision: number;

  @TimeField()
  createdAt: string;

  @TimeField()
  updatedAt: string;
}

export class ConnectionPageAnswer {
  @NestedField(() => ConnectionAnswer, { maxItems: 200 })
  items: ConnectionAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}
