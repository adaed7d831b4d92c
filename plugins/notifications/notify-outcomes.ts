import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import type { ScanProblem } from '../matching/scan-types.ts'
import { type ScanPayload, type ScanStats, createStats } from '../scans/schemas.ts'
import type { Task } from '../tasks/entities.ts'
import { User } from '../users/entities.ts'
import type { NotificationRequest } from './service.ts'

/** True for a scan of some games or files only. */
const isNarrow = ({ roms_ids: ids = [], fs_names: names }: Partial<ScanPayload>): boolean =>
  ids.length > 0 || names !== undefined

/** Returns the recipients: the user who started the task, or administrators for tasks of a schedule or the watcher. */
const listenersOf = ({ user_id: userId }: Task): NotificationRequest['to'] => typeof userId === 'number' ? [userId] : 'admins'

/** Returns the sentences of a scan's report about providers whose lookups failed. */
function listProviderFailures ({ meta }: Task): string[] {
  const problems = Array.isArray(meta.problems) ? meta.problems as ScanProblem[] : []
  return problems.filter(({ provider }) => provider !== undefined).map(({ reason }) => reason)
}

function noticeOfScan (task: Task, error: string, failures: readonly string[]): NotificationRequest | null {
  const { status, user_id: userId } = task
  const to = listenersOf(task)
  if (status === 'failed') return { kind: 'scan_failed', to, data: { error } }
  const stats = { ...createStats(), ...task.meta.scan_stats as Partial<ScanStats> }
  const data = failures.length === 0 ? stats : { ...stats, provider_failures: failures }
  // A person who scans some games sees the result on their pages.
  const isUnasked = typeof userId !== 'number' || isNarrow(task.payload)
  const isSilent = isUnasked && data.new_roms === 0 && data.new_platforms === 0
  return status === 'finished' && !isSilent ? { kind: 'scan_completed', to, data } : null
}

function noticeOfTask (task: Task, error: string): NotificationRequest | null {
  const { status, title, user_id: userId } = task
  const to = listenersOf(task)
  if (status === 'failed') return { kind: 'task_failed', to, data: { title, error } }
  return status === 'finished' && typeof userId === 'number' ? { kind: 'task_completed', to, data: { title } } : null
}

/** True for a scan itself. A scheduled request for a scan is an ordinary task. */
const isScan = ({ type, task_key: key }: Task) => type === 'scan' && typeof key !== 'string'

/** Sends notifications about results of other features. */
export function followOutcomes (app: FastifyInstance, config: Config): void {
  const { notify } = app.notifications
  const mask = createPathMask(config)

  /** Returns the form of texts for the recipients. Only administrators see the machine's own paths. */
  async function maskFor ({ user_id: userId }: Task): Promise<(text: string) => string> {
    const seesPaths = typeof userId !== 'number' || await app.db.em.count(User, { id: userId, role: 'admin' }) > 0
    return seesPaths ? (text) => text : mask
  }

  app.tasks.onEnd(async (task) => {
    const show = await maskFor(task)
    const error = show(task.error ?? '')
    const notice = isScan(task)
      ? noticeOfScan(task, error, listProviderFailures(task).map(show))
      : noticeOfTask(task, error)
    if (notice !== null) await notify(notice)
  })

  app.circuits.onRefused(async (provider, reason) => {
    const name = app.registry.providers.get(provider)?.definition.name ?? provider
    await notify({ kind: 'provider_refused', to: 'admins', data: { provider, name, reason } })
  })

  app.users.onRoleChanged(async ({ user, to: role, actor: by }) => {
    await notify({ kind: 'role_changed', to: [user.id], data: { role }, actor_id: by?.id ?? null })
  })

  app.channels.onDisabled(async ({ id, user_id: userId, name, error }) => {
    await notify({ kind: 'channel_disabled', to: [userId], data: { channel_id: id, name, error } })
  })
}
