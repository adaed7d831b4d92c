import { createSecrets } from '../../core/access/secrets.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import { inClientTransaction } from '../../core/database/client-transaction.ts'
import { KEEP_ALIVE } from '../../core/database/database.ts'
import { withSession } from '../../core/database/session.ts'
import type { Upgrade } from '../../core/feature.ts'
import { lockConfigFile } from './rows.ts'
import { shareSettings } from './share-settings.ts'

const CONNECT_MS = 5_000
/** The longest wait for another process that compares its file. Its disk may not answer. */
const LOCK_MS = 10_000
const PROBLEM = 'this host has other settings than the other hosts'

/**
 * Brings `config.yml` to the settings of all hosts before the server of this host starts. The embedded database has one
 * host, whose file has the settings. The server also starts if that fails.
 *
 * @returns true if the file changed
 */
export async function prepareSettings ({ config, databaseUrl, log }: Upgrade): Promise<boolean> {
  if (directUrlOf(config) === undefined) return false
  const services = { config, secrets: createSecrets(config.auth.secret_key), log, isStart: true }
  const options = {
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    lock_timeout: LOCK_MS,
    application_name: 'svc settings',
    ...KEEP_ALIVE
  }
  try {
    const { hasChanged, problem, finish } = await withSession(options, async (client) =>
      await inClientTransaction(client, async () => {
        await lockConfigFile(client)
        return await shareSettings(client, services)
      }))
    await finish()
    if (problem !== null) log.error({ reason: problem }, PROBLEM)
    return hasChanged
  } catch (err) {
    log.error({ err }, 'config.yml could not be compared with the settings of the other hosts; the server tries again while it runs')
    return false
  }
}
