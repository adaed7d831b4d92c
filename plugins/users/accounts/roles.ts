import type { FastifyInstance } from 'fastify'
import type { User } from '../entities.ts'

type Role = User['role']

/** A change of role from or to administrator. */
export interface RoleChange {
  user: { id: number, username: string }
  from: Role
  to: Role
  /** The user who made the change; null if no user of this server did. */
  actor: { id: number, username: string } | null
}
type Listener = (change: RoleChange) => void | Promise<void>

export function createRoles (app: FastifyInstance) {
  const listeners: Listener[] = []

  async function callListener (listener: Listener, change: RoleChange): Promise<void> {
    try {
      await listener(change)
    } catch (err) {
      app.log.error({ err, user: change.user.id }, 'a listener for changed roles failed')
    }
  }

  return {
    /** Calls `listener` in the process that changed a role, after the change is stored. */
    onRoleChanged (listener: Listener): void {
      listeners.push(listener)
    },

    /** Announces a stored change of a role to clients, open sockets, the audit log and the listeners. */
    async announceRole (change: RoleChange, address: string, details: Record<string, string> = {}): Promise<void> {
      const { user, from, to, actor: by } = change
      app.permissions.announce([user.id])
      app.sockets.setAdmin(user.id, to === 'admin')
      await app.audit.record({
        event: 'role.changed', user: by ?? user, address, details: { user_id: user.id, username: user.username, from, to, ...details }
      })
      for (const listener of listeners) await callListener(listener, change)
    }
  }
}
export type Roles = ReturnType<typeof createRoles>
