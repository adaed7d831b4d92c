import { Db } from '../core/database/db.ts'
import { openOrm } from '../core/database/database.ts'

/** Returns the address of a database for sessions in this time zone. */
export function setTimeZone (url: string, zone: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', `-c timezone=${zone}`)
  return changed.href
}

type Entities = Parameters<typeof openOrm>[0]['entities']

/** Opens a handle on a database, without a server. */
export async function openDb (
  url: string, poolSize = 2, entities: Entities = []
): Promise<{ db: Db, close (): Promise<void> }> {
  const orm = await openOrm({ url, poolSize, entities, migrations: [] })
  return { db: new Db(orm.em), close: () => orm.close() }
}
