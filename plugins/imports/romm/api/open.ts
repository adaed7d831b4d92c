import {
  FileAbsentError, type Importer, type ImporterContext, type ImporterSettings, type RecordKind, SourceError
} from '../../contract.ts'
import { LISTS } from '../records/lists.ts'
import { createSource } from '../records/source.ts'
import { isObject } from '../values.ts'
import { createRommClient, type RommClient } from './client.ts'
import { createApiTables } from './tables.ts'

/** Kinds that no route shows. */
const ABSENT: Partial<Record<RecordKind, string>> = {
  hidden: 'RomM\'s API does not show who may not see what',
  sync_session: 'RomM\'s API does not list them',
  token: 'RomM\'s API does not show the hashes of tokens'
}

/**
 * Opens a running RomM by its address and a token, for what this account may read.
 *
 * @throws SourceError
 */
export async function openApi (settings: ImporterSettings, context: ImporterContext): Promise<Importer> {
  const client = createRommClient(settings, context)
  try {
    const version = await readRelease(client)
    const me = await client.getObject('/api/users/me')
    if (typeof me.username !== 'string' || typeof me.id !== 'number') {
      throw new SourceError(`RomM at ${client.address} did not say whose token it is. Check the address`)
    }
    const tables = createApiTables(client, me)
    const source = createSource(tables, { assets: null, resources: null }, context)
    context.warn(`RomM's API shows the account ${JSON.stringify(me.username)} only its own things, no passwords, and of screenshots only ` +
      'those of saves and states. Import each account with its own token, or import from the database')
    return {
      identity: `romm-api:${client.address}:${me.username}`,
      title: `RomM ${version} at ${client.address}`,
      absent: ABSENT,
      list: (kind) => LISTS[kind](source),
      async open ({ path }) {
        if (path.split('/').includes('..')) throw new FileAbsentError(`${JSON.stringify(path)} leads out of RomM's folder`)
        return await client.openContent(tables.routesOf(path))
      },
      close: () => client.close()
    }
  } catch (err) {
    await client.close()
    throw err
  }
}

async function readRelease (client: RommClient): Promise<string> {
  const { SYSTEM: system } = await client.getObject('/api/heartbeat')
  const version = isObject(system) ? system.VERSION : undefined
  return typeof version === 'string' ? version.slice(0, 50) : 'of an unknown version'
}
