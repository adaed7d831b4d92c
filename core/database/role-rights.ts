import type pg from 'pg'
import { StartError } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'
import { withSession } from './session.ts'

/** insufficient_privilege, and invalid_schema_name of a role that may use no schema of its search path. */
const FORBIDDEN = new Set(['42501', '3F000'])

/** The role of a connection, and the owner of the server's tables; null while there are none. */
interface RoleRights { role: string, database: string, owner: string | null, refused: string | null }

/** Selects the first table or sequence of the server that the role may not read and write. */
const SELECT_RIGHTS = `select current_user as role, current_database() as database, pg_get_userbyid(m.relowner) as owner,
  (select min(n.nspname || '.' || c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where (n.oid = m.relnamespace or n.nspname = 'pgboss') and c.relowner = m.relowner and c.relkind in ('r', 'p', 'S')
      and not (has_schema_privilege(n.oid, 'usage') and case c.relkind when 'S' then has_sequence_privilege(c.oid, 'usage')
        else has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
          and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete') end)) as refused
  from (values (1)) as one left join pg_class m on m.relname = 'migrations' and m.relkind = 'r'
    and exists (select from pg_class p where p.relnamespace = m.relnamespace and p.relname = 'plugin_packages')
  order by m.oid = to_regclass('migrations') desc nulls last limit 1`

async function readRights (client: pg.Client): Promise<RoleRights | undefined> {
  return (await client.query<RoleRights>(SELECT_RIGHTS)).rows[0]
}

/** Quotes a name for SQL, if it needs quotes. */
const quote = (name: string) => /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`

function describeRemedy ({ role, database, owner, refused }: RoleRights): string {
  if (owner === null || owner === role) {
    const command = owner === null ? `alter database ${quote(database)} owner to ${quote(role)}` : `grant all on ${refused} to ${quote(role)}`
    return `Run as an administrator of the database: ${command}`
  }
  return `Set SVC_DATABASE_URL to the role '${owner}', which owns the tables, or run as an administrator of the ` +
    `database: grant ${quote(owner)} to ${quote(role)}`
}

/**
 * Runs work that changes the schema, and checks that the role may use all tables then.
 *
 * @throws StartError with the role and the remedy if the role has too few rights
 */
export async function withRights<T> (connectionString: string, work: () => Promise<T>): Promise<T> {
  const read = () => withSession({ connectionString }, readRights)
  let result: T
  try {
    result = await work()
  } catch (err) {
    if (!(err instanceof Error) || !FORBIDDEN.has(errorCode(err))) throw err
    const rights = await read()
    if (rights === undefined) throw err
    throw new StartError(`The role '${rights.role}' has too few rights in the database '${rights.database}': ${err.message}. ` +
      describeRemedy(rights), { cause: err })
  }
  const rights = await read()
  if (rights === undefined || rights.refused === null) return result
  throw new StartError(`The role '${rights.role}' may not read and write the table ${rights.refused} of the database ` +
    `'${rights.database}'. ${describeRemedy(rights)}`)
}
