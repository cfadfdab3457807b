import type pg from 'pg';

/**
 * The schema as SQL text, in a fixed order: tables with their columns and constraints, indexes, functions. For people to
 * read and for CI to compare; the same on every PostgreSQL version Warren runs on.
 */
export async function dumpSchema(pool: pg.Pool): Promise<string> {
  const parts = await Promise.all([lines(pool, TABLES), lines(pool, INDEXES), lines(pool, FUNCTIONS)]);
  return `${parts.flat().join('\n\n')}\n`;
}

async function lines(pool: pg.Pool, query: string): Promise<string[]> {
  const { rows } = await pool.query<{ definition: string }>(query);
  return rows.map(({ definition }) => definition.trim());
}

const TABLES = `
  select format(E'create table %I (\\n%s\\n);', class.relname, (
    select string_agg('  ' || part, E',\\n' order by place, part) from (
      select attribute.attnum::int as place, format('%I %s%s%s', attribute.attname,
          format_type(attribute.atttypid, attribute.atttypmod),
          case when attribute.attnotnull then ' not null' else '' end,
          case when attribute.attidentity <> '' then ' generated always as identity'
            else coalesce(' default ' || pg_get_expr(standard.adbin, standard.adrelid), '') end) as part
        from pg_attribute as attribute
        left join pg_attrdef as standard on standard.adrelid = class.oid and standard.adnum = attribute.attnum
        where attribute.attrelid = class.oid and attribute.attnum > 0 and not attribute.attisdropped
      union all
      select 10000, format('constraint %I %s', conname, pg_get_constraintdef(oid)) from pg_constraint
        where conrelid = class.oid and contype in ('c', 'f', 'p', 'u')
    ) as parts)) as definition
  from pg_class as class
  where class.relnamespace = 'public'::regnamespace and class.relkind = 'r'
  order by class.relname`;

const INDEXES = `
  select pg_get_indexdef(index.indexrelid) || ';' as definition
  from pg_index as index
  join pg_class as class on class.oid = index.indrelid
  where class.relnamespace = 'public'::regnamespace
    and not exists (select from pg_constraint where conindid = index.indexrelid)
  order by 1`;

const FUNCTIONS = `
  select rtrim(pg_get_functiondef(oid)) || ';' as definition
  from pg_proc where pronamespace = 'public'::regnamespace order by proname`;
