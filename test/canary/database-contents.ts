import pg from 'pg';

/** Rows read of one table at most; the rest is counted as cut. */
const MAX_ROWS = 20_000;

export interface DatabaseContents {
  /** Every row of every table as PostgreSQL writes rows, bytea in hex; a line each. */
  text: string;
  tables: number;
  /** Rows that were left out. */
  cutRows: number;
}

/** All that a database holds, of all schemas that are not PostgreSQL's own. */
export async function readDatabase(connectionString: string): Promise<DatabaseContents> {
  const client = new pg.Client({ connectionString, application_name: 'contents' });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    let cutRows = 0;
    const parts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ line: string }>(
        `select t::text as line from ${name} as t limit ${MAX_ROWS + 1}`,
      );
      if (rows.length > MAX_ROWS) {
        const { rows: all } = await client.query<{ count: string }>(`select count(*) from ${name}`);
        cutRows += Number(all[0]?.count ?? 0) - MAX_ROWS;
      }
      parts.push(`-- ${name}`, ...rows.slice(0, MAX_ROWS).map(({ line }) => line));
    }
    return { text: `${parts.join('\n')}\n`, tables: tables.length, cutRows };
  } finally {
    await client.end();
  }
}
