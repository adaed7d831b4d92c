import { createHmac } from 'node:crypto'
import pg from 'pg'
import { withSession } from '../database/session.ts'

/** The role of the server. It owns the database and is no superuser, so SQL cannot reach files or programs. */
export const SERVER_ROLE = 'svc_server'
/** The name of the server's database. */
export const DATABASE = 'svc'
/** The database that every cluster has. Only the superuser may create objects in it. */
export const MAINTENANCE_DATABASE = 'postgres'

const CONNECT_TIMEOUT_MS = 30_000

/** Returns the same password at every start, because processes reconnect with the URL that they got before. */
export function derivePassword (superuserPassword: string): string {
  return createHmac('sha256', superuserPassword).update(SERVER_ROLE).digest('base64url')
}

/**
 * Changes the owner of everything that the current role owns in this database. Extensions and their members stay with
 * the superuser, and so do indexes, row types and sequences of columns, which follow their table.
 */
const HAND_OVER = `do $$
  declare
    statement text;
  begin
    for statement in
      with named as (
        select oid, nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
      ), kept as (
        select classid, objid from pg_depend where deptype = 'e'
        union all
        select classid, objid from pg_depend where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass
          and deptype in ('a', 'i') and refobjsubid <> 0
      ), owned as (
        select 1 as turn, format('schema %I', nspname) as object, 'pg_namespace'::regclass as class, o.oid
          from pg_namespace o join named using (oid, nspname) where nspowner = current_user::regrole
        union all
        select case relkind when 'S' then 3 else 2 end, format(case relkind when 'c' then 'type %I.%I' else 'table %I.%I' end, nspname, relname),
          'pg_class'::regclass, o.oid
          from pg_class o join named on named.oid = relnamespace
          where relowner = current_user::regrole and relkind in ('r', 'p', 'v', 'm', 'f', 'c', 'S')
        union all
        select 4, format('type %I.%I', nspname, typname), 'pg_type'::regclass, o.oid
          from pg_type o join named on named.oid = typnamespace where typowner = current_user::regrole and typtype in ('d', 'e', 'r')
        union all
        select 5, format('routine %s', o.oid::regprocedure), 'pg_proc'::regclass, o.oid
          from pg_proc o join named on named.oid = pronamespace where proowner = current_user::regrole
        union all
        select 6, format('statistics %I.%I', nspname, stxname), 'pg_statistic_ext'::regclass, o.oid
          from pg_statistic_ext o join named on named.oid = stxnamespace where stxowner = current_user::regrole
      )
      select format('alter %s owner to ${SERVER_ROLE}', object) from owned
        where not exists (select from kept where classid = class and objid = owned.oid) order by turn
    loop
      execute statement;
    end loop;
  end $$`

/**
 * Selects the server's database, and others of the superuser such as that of a killed backup. The first is included at
 * every start, because an earlier release that ran in between creates its tables as the superuser.
 */
const FORMER_DATABASES = `select datname as name from pg_database where datname = '${DATABASE}' or
  (datdba = current_user::regrole and datallowconn and not datistemplate and datname <> '${MAINTENANCE_DATABASE}')`

/**
 * Runs work as the superuser. The search path is pg_catalog alone, because a function of the server's role would
 * otherwise run with the superuser's rights.
 */
const asSuperuser = <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => withSession({
  connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, options: '-c search_path=pg_catalog'
}, work)

/** Creates the server's role. `createdb` is for backups, which are tested in a separate database. */
async function createRole (client: pg.Client, password: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [SERVER_ROLE])
  const verb = rowCount === 0 ? 'create' : 'alter'
  await client.query(`${verb} role ${SERVER_ROLE} login createdb nosuperuser nocreaterole noreplication nobypassrls ` +
    `password ${pg.escapeLiteral(password)}`)
}

async function createDatabase (client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
  if (rowCount === 0) await client.query(`create database ${DATABASE} owner ${SERVER_ROLE}`)
}

function withDatabase (url: string, name: string): string {
  const serverUrl = new URL(url)
  serverUrl.pathname = `/${encodeURIComponent(name)}`
  return serverUrl.href
}

/**
 * Creates the server's role and database if they are missing, and changes the owner of objects of the superuser, the
 * role of earlier releases. An interrupted call can be repeated.
 */
export async function prepareDatabase (superuserUrl: string, password: string): Promise<void> {
  const former = await asSuperuser(superuserUrl, async (client) => {
    await createRole(client, password)
    await createDatabase(client)
    return (await client.query<{ name: string }>(FORMER_DATABASES)).rows
  })
  for (const { name } of former) {
    await asSuperuser(withDatabase(superuserUrl, name), async (client) => {
      await client.query(HAND_OVER)
      // Last, because the start after an interrupted one must find this database again.
      await client.query(`alter database ${pg.escapeIdentifier(name)} owner to ${SERVER_ROLE}`)
    })
  }
}
