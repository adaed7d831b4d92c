import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SUPERUSER } from '../core/postgres/cluster.ts'

/**
 * Returns the superuser's URL of a database on an embedded server, for tests that need more rights than the server's
 * role.
 */
export function superuserUrl (dataDir: string, serverUrl: string): string {
  const url = new URL(serverUrl)
  url.username = SUPERUSER
  url.password = readFileSync(join(dataDir, 'svc.password'), 'utf8').trim()
  return url.href
}
