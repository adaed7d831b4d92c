import type { Upgrade } from '../../core/feature.ts'
import { checkName, claimBackup, dropDatabase, hasDatabase, readName, withClient } from './rows.ts'

/** Deletes the test database that a killed backup left, unless a backup is running. A failure is only logged. */
export async function deleteAbandonedCheck ({ databaseUrl, log }: Pick<Upgrade, 'databaseUrl' | 'log'>): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const name = checkName(await readName(client))
    if (await hasDatabase(client, name) && await claimBackup(client)) await dropDatabase(client, name)
  }).catch((err: unknown) => { log.warn({ err }, 'the test database of a killed backup could not be deleted') })
}
