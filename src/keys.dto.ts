import { ChoiceField, TextField, TimeField, NestedField } from './field.decorators.js';
import { operatorScopes, type OperatorScope } from './principal.js';

export class CreateKeyBody {
  @TextField({ min: 1, max: 120 })
  name: string;

  @ChoiceField({
    choices: operatorScopes,
    maxItems: operatorScopes.length,
    description: '`write`, `launch` and `decide` include `read`; `admin` is everything',
  })
  scopes: OperatorScope[];

  @TimeField({ optional: true, nullable: true })
  expiresAt?: string | null;
}

export class KeyAnswer {
  @TextField({ max: 12 })
  id: string;

  @TextField({ max: 120, nullable: true })
  name: string | null;

  @ChoiceField({ choices: operatorScopes, maxItems: operatorScopes.length })
  scopes: OperatorScope[];

  @TimeField({ nullable: true })
  expiresAt: string | null;

  @TimeField()
  createdAt: string;
}

export class CreatedKeyAnswer extends KeyAnswer {
  @TextField({ max: 100, description: 'The key itself; shown this once' })
  key: string;
}

export class KeyPageAnswer {
  @NestedField(() => KeyAnswer, { maxItems: 200 })
  items: KeyAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}
