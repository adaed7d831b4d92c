import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { formatDate } from '../../core/typebox.ts'
import { userRoom } from '../../core/sockets/sockets.ts'
import { type Broker, BrokerRefusedError, BrokerUnreachableError, type Launch, type Progress } from './broker.ts'
import type { UsableContainer } from './containers.ts'
import './events.ts'
import { activate, isLaunching, release, selectSessions, updatePhase } from './rows.ts'

const POLL_MS = 500
const SECOND_MS = 1_000
/** Number of failed polls in a row after which a broker counts as dead; a busy broker may miss some. */
const FAILED_POLLS_MAX = 3
const DETAIL_MAX = 500

/** A machine that is reserved for a game. */
export interface ReservedContainer {
  container: string, claim: string, claimed_at: number, user_id: number, platform: string
}

/** The session was ended during its launch. */
class LaunchGoneError extends Error {
  override readonly name = 'LaunchGoneError'
}

const aboutOf = ({ platform, container, claimed_at: claimedAt }: ReservedContainer) =>
  ({ platform, container, claimed_at: formatDate(claimedAt) })

async function publishPhase (
  app: FastifyInstance, reservation: ReservedContainer, phase: string | null
): Promise<void> {
  if (!await updatePhase(app.db, reservation, phase)) return
  app.sockets.publish(userRoom(reservation.user_id), 'streaming:launch-phase', { ...aboutOf(reservation), phase })
}

/** Polls the progress. Returns the number of failed polls instead, until it reaches the limit. */
async function pollProgress (
  broker: Broker, container: UsableContainer, failedPolls: number
): Promise<Progress | number> {
  try {
    return await broker.follow(container)
  } catch (err) {
    if (err instanceof BrokerUnreachableError && failedPolls + 1 < FAILED_POLLS_MAX) return failedPolls + 1
    throw err
  }
}

/**
 * Stops a game whose session was ended during its launch, because the game may have started since. Its player was
 * already notified.
 */
async function stopGone (app: FastifyInstance, broker: Broker, container: UsableContainer): Promise<void> {
  if ((await selectSessions(app.db, [container.id])).length === 0) await broker.stop(container)
}

interface LaunchServices {
  app: FastifyInstance
  broker: Broker
  launchSeconds (): number
  /** Aborted when the server closes. */
  closing: AbortSignal
}

/** Waits until the game runs. @throws BrokerRefusedError, BrokerUnreachableError, LaunchGoneError */
async function follow (
  services: LaunchServices, container: UsableContainer, reservation: ReservedContainer, first: Progress
): Promise<Progress> {
  const deadline = performance.now() + services.launchSeconds() * SECOND_MS
  let [progress, failedPolls] = [first, 0]
  while (progress.status === 'launching') {
    await publishPhase(services.app, reservation, progress.phase ?? null)
    if (performance.now() >= deadline) throw new BrokerRefusedError(`The game did not start within ${services.launchSeconds()} seconds`)
    await pause(POLL_MS, undefined, { signal: services.closing })
    if (!await isLaunching(services.app.db, reservation)) throw new LaunchGoneError()
    const seen = await pollProgress(services.broker, container, failedPolls)
    if (typeof seen === 'number') failedPolls = seen
    else [progress, failedPolls] = [seen, 0]
  }
  if (progress.status === 'failed') {
    throw new BrokerRefusedError((progress.detail ?? 'The emulator did not start').slice(0, DETAIL_MAX))
  }
  return progress
}

function describe (services: LaunchServices, err: unknown): string {
  if (err instanceof BrokerRefusedError || err instanceof BrokerUnreachableError) return err.message
  if (services.closing.aborted) return 'The server was restarted; start the game again'
  services.app.log.error({ err }, 'a streamed game could not be started')
  return 'The server failed to start the game; see its log'
}

/** Releases the machine before its player gets the failure. */
async function fail (
  services: LaunchServices, container: UsableContainer, reservation: ReservedContainer, err: unknown
): Promise<void> {
  const isOwnLaunch = await isLaunching(services.app.db, reservation)
  if (isOwnLaunch) await services.broker.stop(container)
  if (!await release(services.app.db, reservation) || !isOwnLaunch) return
  const refused = err instanceof BrokerRefusedError ? err : null
  services.app.sockets.publish(userRoom(reservation.user_id), 'streaming:launch-failed', {
    ...aboutOf(reservation),
    detail: describe(services, err),
    refusals: refused?.refusals ?? null,
    refusals_truncated: refused?.truncated ?? 0
  })
}

/** Starts games on machines and reports the progress to their players. */
export function createLauncher (app: FastifyInstance, broker: Broker, launchSeconds: () => number) {
  const closing = new AbortController()
  const services = { app, broker, launchSeconds, closing: closing.signal }
  const running = new Set<Promise<void>>()

  async function run (
    container: UsableContainer, reservation: ReservedContainer, launch: Launch, former: boolean
  ): Promise<void> {
    if (former) await broker.stop(container)
    const progress = await follow(services, container, reservation, await broker.launch(container, launch))
    if (!await activate(app.db, reservation)) throw new LaunchGoneError()
    app.sockets.publish(userRoom(reservation.user_id), 'streaming:launch-ready', {
      ...aboutOf(reservation),
      host: progress.host ?? container.host,
      resume: launch.state_path === undefined ? null : progress.resume === true,
      core: progress.core ?? null,
      core_tier: progress.core_tier ?? null
    })
  }

  app.addHook('onClose', async () => {
    closing.abort()
    await Promise.all(running)
  })

  /** @param former true if a former game may still run on the machine */
  return function start (
    container: UsableContainer, reservation: ReservedContainer, launch: Launch, former: boolean
  ): void {
    const launching = run(container, reservation, launch, former).catch(async (err: unknown) => {
      if (err instanceof LaunchGoneError) await stopGone(app, broker, container)
      else await fail(services, container, reservation, err)
    }).catch((err: unknown) => {
      app.log.error({ err }, 'a launch that failed could not be undone')
    }).finally(() => { running.delete(launching) })
    running.add(launching)
  }
}
