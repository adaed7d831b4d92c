import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SUPERUSER } from '../core/postgres/cluster.ts'

/** The address of a database of an embedded server for its superuser, for what no role of the server may do. */
export function superuserUrl (dataDir: string, serverUrl: string): string {
  const url = new URL(serverUrl)
  url.username = SUPERUSER
  url.password = readFileSync(join(dataDir, 'svc.password'), 'utf8').trim()
  return url.href
}
