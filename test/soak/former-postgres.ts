import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { fetchPrograms, programsIn } from '../../plugins/backup/cluster/programs.ts'
import { type Content, listReleases, liveUpTo, readContent } from '../plugins/migrations/support.ts'

/** The former major version of PostgreSQL. */
export const FORMER = '17'

/** Downloads the programs of the former PostgreSQL into the data directory; false if npm does not have them. */
export const fetchFormer = (dataDir: string): Promise<boolean> =>
  fetchPrograms(dataDir, FORMER, new AbortController().signal).then(() => true, () => false)

/** Turns a data directory with these programs into one of the former PostgreSQL and the first release. */
export async function createFormer (dataDir: string): Promise<Content> {
  const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'db'), log: () => undefined, binaries: programsIn(dataDir, FORMER) })
  await liveUpTo(server.url, listReleases()[0] ?? '')
  const content = await readContent(server.url)
  await server.stop()
  await writeFile(join(dataDir, 'identity'), '11111111-2222-4333-8444-555555555555\n')
  return content
}
