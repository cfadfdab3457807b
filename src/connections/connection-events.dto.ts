import { BooleanField, IntegerField, NestedField, TextField, TimeField } from '../field.decorators.js';

/** One stored transition of a connection. */
export class ConnectionEventAnswer {
  @IntegerField({ min: 1 })
  id: number;

  @TimeField()
  at: string;

  @TextField({ max: 64 })
  status: string;

  @TextField({ optional: true, max: 64, description: 'A stable reason' })
  reason?: string;

  @BooleanField({ description: 'Taken over from a legacy file' })
  imported: boolean;
}

export class ConnectionEventPageAnswer {
  @NestedField(() => ConnectionEventAnswer, { maxItems: 200, description: 'Newest first' })
  items: ConnectionEventAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}
