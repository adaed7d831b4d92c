import { StartError } from '../errors.ts'

interface Settings { database: { url?: string, direct_url?: string, prepared_statements?: boolean } }

/**
 * Returns the URL of the external database for connections with a session of their own: LISTEN, advisory locks, the
 * queue, migrations and backups. Undefined for the embedded database.
 */
export const directUrlOf = ({ database: { url, direct_url: direct } }: Settings): string | undefined => direct ?? url

/** Returns the URL of the pooler that the statements of requests go through; undefined without a pooler. */
export const poolerUrlOf = ({ database: { url, direct_url: direct } }: Settings): string | undefined =>
  direct === undefined ? undefined : url

/** True if frequent statements are prepared. A pooler may give each transaction another connection without them. */
export const preparesStatements = ({ database }: Settings): boolean =>
  database.prepared_statements ?? database.direct_url === undefined

/** @throws StartError if the direct address is set alone */
export function requireUrls ({ database: { url, direct_url: direct } }: Settings): void {
  if (direct === undefined || url !== undefined) return
  throw new StartError('SVC_DATABASE_DIRECT_URL is set without SVC_DATABASE_URL. Set SVC_DATABASE_URL to the address of the pooler, or remove ' +
    'SVC_DATABASE_DIRECT_URL if there is no pooler.')
}
