import { pino } from 'pino'
import type { Test } from 'tap'
import { loadConfig } from '../../load-config.ts'
import { createTestDatabase } from '../../support.ts'
import { listReleases, liveUpTo, withConnection } from './support.ts'

export const FIRST = listReleases()[0] ?? ''

export const ask = async <Row extends object>(url: string, sql: string) =>
  await withConnection(url, async (client) => (await client.query<Row>(sql)).rows)

/** Creates a database of a former release. */
export async function createOld (t: Pick<Test, 'testdir' | 'teardown'>, release: string): Promise<string> {
  const url = await createTestDatabase(t, 'template0')
  await liveUpTo(url, release)
  return url
}

export const configOf = (dataDir: string, more: Record<string, string> = {}) =>
  loadConfig({ SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'silent', ...more }).config

/** Collects the lines of the log. */
export function createLog () {
  const lines: string[] = []
  return { log: pino({ level: 'info' }, { write (line) { lines.push(line) } }), lines }
}
export const [EXPAND, NEXT, CONTRACT] = ['20270101000000-titles', '20270201000000-other', '20270301000000-contract-20270101000000-former-names']
