import { NestedField, TextField, TimeField } from '../field.decorators.js';

export class CreateAgentTokenBody {
  @TextField({ optional: true, nullable: true, min: 1, max: 120, description: 'What the token is for' })
  name?: string | null;

  @TimeField({ optional: true, nullable: true, description: 'Left out or null: the token does not expire' })
  expiresAt?: string | null;
}

export class AgentTokenAnswer {
  @TextField({ max: 12 })
  id: string;

  @TextField({ max: 120, nullable: true })
  name: string | null;

  @TimeField({ nullable: true })
  expiresAt: string | null;

  @TimeField()
  createdAt: string;
}

export class CreatedAgentTokenAnswer extends AgentTokenAnswer {
  @TextField({ max: 100, description: 'The token itself; shown this once' })
  token: string;
}

export class AgentTokenPageAnswer {
  @NestedField(() => AgentTokenAnswer, { maxItems: 200 })
  items: AgentTokenAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}
