import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { auditActions, auditHash, type AuditEntry, type ChainedEntry, GENESIS_HASH } from './audit.entry.js';
import { AuditVerification, formatAuditHead, parseAuditHead } from './audit.verification.js';

type Entry = Omit<AuditEntry, 'sequence'>;

const entries = fc.array(
  fc.record<Entry>({
    at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01T00:00:00Z') }),
    actor: fc.record({ kind: fc.constant('operator' as const), id: fc.string(), name: fc.option(fc.string()) }),
    action: fc.constantFrom(...auditActions),
    target: fc.record({ kind: fc.constant('agent'), id: fc.string() }),
    outcome: fc.constantFrom('done' as const, 'requested' as const, 'refused' as const),
    requestId: fc.option(fc.uuid()),
    before: fc.option(fc.dictionary(fc.string(), fc.string())),
    after: fc.option(fc.dictionary(fc.string(), fc.integer())),
  }),
  { minLength: 2, maxLength: 12 },
);

function chain(of: readonly Entry[]): ChainedEntry[] {
  let previousHash: Buffer = GENESIS_HASH;
  return of.map((entry, index) => {
    const numbered = { ...entry, sequence: index + 1 };
    const chained = { ...numbered, previousHash, hash: auditHash(previousHash, numbered) };
    previousHash = chained.hash;
    return chained;
  });
}

function verify(log: readonly ChainedEntry[], noted?: ChainedEntry): AuditVerification {
  const verification = new AuditVerification(noted);
  for (const entry of log) verification.next(entry);
  verification.end();
  return verification;
}

/** A change of one member of a row, to something else than it is. */
const edits: Record<keyof Entry, (entry: ChainedEntry) => Partial<ChainedEntry>> = {
  at: ({ at }) => ({ at: new Date(at.getTime() + 1) }),
  actor: ({ actor }) => ({ actor: { ...actor, id: `${actor.id}x` } }),
  action: ({ action }) => ({ action: `${action}x` }),
  target: ({ target }) => ({ target: { ...target, id: `${target.id}x` } }),
  outcome: ({ outcome }) => ({ outcome: outcome === 'done' ? 'refused' : 'done' }),
  requestId: ({ requestId }) => ({ requestId: `${requestId ?? ''}x` }),
  before: ({ before }) => ({ before: { before } }),
  after: ({ after }) => ({ after: { after } }),
};

/** A log, and where in it something is done. */
const logAndPlace = entries.chain((of) =>
  fc.record({ log: fc.constant(chain(of)), at: fc.nat(of.length - 1), other: fc.nat(of.length - 1) }),
);

describe('the verification of an audit log', () => {
  it('finds nothing in one that nobody touched', () => {
    fc.assert(
      fc.property(entries, (of) => {
        const log = chain(of);
        const { problems, head } = verify(log, log.at(-1));
        expect(problems).toEqual([]);
        expect(head?.sequence).toBe(log.length);
      }),
    );
    expect(verify([]).problems).toEqual([]);
  });

  it.each(Object.keys(edits) as (keyof Entry)[])('finds an edited %s', (member) => {
    fc.assert(
      fc.property(logAndPlace, ({ log, at }) => {
        const edited = log.map((entry, index) => (index === at ? { ...entry, ...edits[member](entry) } : entry));
        expect(verify(edited).problems).toEqual([`row ${at + 1} was edited`]);
      }),
    );
  });

  it('finds an edited row whose hash was made anew', () => {
    fc.assert(
      fc.property(logAndPlace, ({ log, at }) => {
        const edited = log.map((entry, index) => {
          if (index !== at) return entry;
          const changed = { ...entry, ...edits.action(entry) };
          return { ...changed, hash: auditHash(changed.previousHash, changed) };
        });
        expect(verify(edited, log.at(-1)).problemCount).toBeGreaterThan(0);
      }),
    );
  });

  it('finds a deleted row, the last one only by a head noted before', () => {
    fc.assert(
      fc.property(logAndPlace, ({ log, at }) => {
        const shorter = log.filter((_, index) => index !== at);
        expect(verify(shorter, log.at(-1)).problems[0]).toContain(`row ${at + 1} is missing`);
        expect(verify(shorter).problemCount > 0).toBe(at < log.length - 1);
      }),
    );
  });

  it('finds rows in another order, whether or not they were numbered anew', () => {
    fc.assert(
      fc.property(logAndPlace, ({ log, at, other }) => {
        fc.pre(at !== other);
        const swapped = log.map((entry, index) => log[index === at ? other : index === other ? at : index] ?? entry);
        const numbered = swapped.map((entry, index) => ({ ...entry, sequence: index + 1 }));
        expect(verify(swapped).problemCount).toBeGreaterThan(0);
        expect(verify(numbered).problemCount).toBeGreaterThan(0);
      }),
    );
  });

  it('finds a log that was written anew as a whole, by a head noted before', () => {
    fc.assert(
      fc.property(logAndPlace, ({ log, at }) => {
        const anew = chain(log.map((entry, index) => (index === at ? { ...entry, ...edits.after(entry) } : entry)));
        expect(verify(anew).problems).toEqual([]);
        expect(verify(anew, log.at(-1)).problemCount).toBeGreaterThan(0);
      }),
    );
  });

  it('tells at most twenty problems and counts all', () => {
    const [first] = chain([
      {
        at: new Date(0),
        actor: { kind: 'command', id: null, name: null },
        action: 'key.create',
        target: { kind: 'key', id: 'a' },
        outcome: 'done',
        requestId: null,
        before: null,
        after: null,
      },
    ]);
    const wrong = Array.from({ length: 30 }, (_, index) => ({ ...first, sequence: index + 1 })) as ChainedEntry[];
    const { problems, problemCount } = verify(wrong);
    expect(problems).toHaveLength(20);
    expect(problemCount).toBe(58);
  });
});

describe('a head', () => {
  it('is read as it was printed, and nothing else is', () => {
    const head = { sequence: 17, hash: Buffer.alloc(32, 0xab) };
    expect(parseAuditHead(` ${formatAuditHead(head)}\n`)).toEqual(head);
    for (const text of [
      '',
      '17',
      `0:${'ab'.repeat(32)}`,
      `17:${'ab'.repeat(31)}`,
      `17:${'AB'.repeat(32)}`,
      `x:${'ab'.repeat(32)}`,
    ]) {
      expect(parseAuditHead(text)).toBeUndefined();
    }
  });
});
