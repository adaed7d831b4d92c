import type { FastifyInstance } from 'fastify'
import { isAdministrator } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import { deleteRow } from '../../../core/database/delete-row.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { badRequest, forbidden } from '../../../core/errors.ts'
import { User } from '../entities.ts'
import type { Avatars } from '../profile/avatars.ts'
import { isLastAdmin } from '../rows.ts'
import { getUser } from '../get-user.ts'

export type DeletionListener = (tx: Db, userId: number) => Promise<void>

/** Creates the deletion of accounts, with everything that depends on them. */
export function createAccountDeletions (app: FastifyInstance, avatars: Avatars) {
  const deletions: DeletionListener[] = []

  return {
    /** Adds a listener that runs before an account is deleted, in the same transaction. */
    onDelete (listener: DeletionListener): void { deletions.push(listener) },

    /** Deletes the account with all its rows and its picture. The listeners handle its uploads. */
    async delete ({ db, caller }: Context, id: number, address: string): Promise<void> {
      if (caller.id === id) throw badRequest('You cannot delete your own account; ask another administrator')
      const deletedAccount = await inTransaction(db, async (tx) => {
        const isLast = await isLastAdmin(tx, id)
        const user = await getUser(tx, id)
        if (user.role === 'admin' && !isAdministrator(caller)) throw forbidden('Only an administrator may delete an administrator')
        if (isLast) throw badRequest(`'${user.username}' is the last administrator; make another user an administrator first`)
        for (const listener of deletions) await listener(tx, id)
        await deleteRow(tx, User, id, `User '${user.username}'`)
        return user
      })
      await app.sockets.end({ kind: 'user', id })
      await app.audit.record({ event: 'user.deleted', user: caller, address, details: { user_id: id, username: deletedAccount.username, role: deletedAccount.role } })
      await avatars.delete(deletedAccount)
    }
  }
}
export type AccountDeletions = ReturnType<typeof createAccountDeletions>
