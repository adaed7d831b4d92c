import { Type } from '@sinclair/typebox'
import { callerOf } from '../../../core/access/auth.ts'
import { DateTime, ErrorSchema, IdParams, type Routes, formatDate, idOf } from '../../../core/typebox.ts'
import { listDeletedAccounts, restoreUploads } from '../restore/deleted-account-rows.ts'
import { reattachUploads } from '../reattach-rows.ts'

const DeletedAccountSchema = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  saves: Type.Integer(),
  states: Type.Integer(),
  screenshots: Type.Integer(),
  file_size_bytes: Type.Integer({ description: 'Former contents included' }),
  deleted_at: DateTime,
  kept_until: DateTime
}, { title: 'DeletedAccount' })
const RestoreSchema = Type.Object({ user_id: idOf('a user') }, { title: 'RestoreAccount', description: 'The account that gets the saves' })
const RestoredSchema = Type.Object({ restored: Type.Integer({ description: 'Number of restored saves, states and screenshots' }) }, { title: 'RestoredAccount' })

const tags = ['users']
const config = { scopes: ['users.write'] as const }

/** Routes of the archived uploads of deleted accounts. */
const routes: Routes = async (app) => {
  app.get('/api/users/deleted', {
    schema: {
      operationId: 'listDeletedAccounts', tags, summary: 'List deleted accounts whose saves can still be restored',
      response: { 200: Type.Array(DeletedAccountSchema) }
    },
    config
  }, async ({ db }) => (await listDeletedAccounts(db)).map(({ deleted_at: deleted, kept_until: until, ...account }) =>
    ({ ...account, deleted_at: formatDate(deleted), kept_until: formatDate(until) })))

  app.post('/api/users/deleted/:id/restore', {
    schema: {
      operationId: 'restoreDeletedAccount',
      tags,
      summary: 'Move the saves of a deleted account to another account',
      description: 'For administrators, within 30 days. A save that the other account has under the same name stays current; the ' +
        'restored one is then among its deleted saves.',
      params: IdParams,
      body: RestoreSchema,
      response: { 200: RestoredSchema, 403: ErrorSchema, 404: ErrorSchema }
    },
    // Only for administrators, because an account that merely manages accounts could otherwise read another user's
    // saves.
    config: { ...config, admin: true, signedIn: true }
  }, async (request) => {
    const caller = callerOf(request)
    const { id, user_id: userId } = { ...request.params, ...request.body }
    const { username, restored } = await restoreUploads(request.db, id, userId)
    await reattachUploads(app.db)
    await app.audit.record({
      event: 'user.uploads_restored', user: caller, address: request.ip, details: { user_id: userId, username, restored }
    })
    return { restored }
  })
}

export default routes
