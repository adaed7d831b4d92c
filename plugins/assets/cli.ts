import { findDatabaseUrl } from '../../core/cli/database.ts'
import type { Features } from '../../core/feature.ts'
import { formatDate } from '../../core/typebox.ts'
import { findUser, withDatabase } from '../users/with-database.ts'
import { listDeletedAccounts, restoreUploads } from './restore/deleted-account-rows.ts'
import { reattachUploads } from './reattach-rows.ts'

/** Implements `svc user deleted`. */
export async function listDeleted (features: Features): Promise<void> {
  await withDatabase(features, await findDatabaseUrl((await features.loadConfig()).config), async (app) => {
    const accounts = await listDeletedAccounts(app.db)
    const lines = accounts.map(({ id, username, saves, states, screenshots, kept_until: until }) =>
      `${id}  ${username}: ${saves} saves, ${states} states, ${screenshots} screenshots, until ${formatDate(until).slice(0, 10)}`)
    process.stdout.write(lines.length === 0 ? 'There is nothing to restore.\n' : `${lines.join('\n')}\n`)
  })
}

/** Implements `svc user restore`. */
export async function restoreDeleted (features: Features, accountId: number, name: string): Promise<void> {
  await withDatabase(features, await findDatabaseUrl((await features.loadConfig()).config), async (app) => {
    const db = app.db
    const user = await findUser(db, name)
    const { username, restored } = await restoreUploads(db, accountId, user.id)
    await reattachUploads(app.db)
    await app.audit.record({
      event: 'user.uploads_restored', address: '', details: { by: 'svc user restore', user_id: user.id, username, restored }
    })
    process.stdout.write(`${restored} saves, states and screenshots of '${username}' now belong to '${user.username}'.\n`)
  })
}
