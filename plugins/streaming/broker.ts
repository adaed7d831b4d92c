import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { originOf } from '../../core/http/addresses.ts'
import { createHttpClient } from '../../core/http/client.ts'
import { ApiError } from '../../core/errors.ts'
import { USER_AGENT } from '../../core/loader/services.ts'
import { Nullable, StringEnum } from '../../core/typebox.ts'
import type { UsableContainer } from './containers.ts'
import { brokerFailed } from './errors.ts'
import { CARD_OUTCOMES, CORE_TIERS, type Refusal, RefusalSchema } from './schemas.ts'

const SHORT_MS = 5_000
const LAUNCH_MS = 10_000
const LOAD_MS = 60_000
const SECOND_MS = 1_000
const ANSWER_MAX_BYTES = 64 * 1_024
const ANSWER_SHOWN_MAX = 200
const REFUSALS_MAX = 20
/** Accept all error statuses, because the caller evaluates every response of a broker. */
const ANSWERS = Array.from({ length: 300 }, (_, index) => 300 + index)

/** The broker responded, but with a failure or an invalid response. */
export class BrokerRefusedError extends Error {
  override readonly name = 'BrokerRefusedError'
  /** Reasons why the emulator refuses the player's files; null if that is not the cause. */
  readonly refusals: Refusal[] | null
  /** Number of further refusals. */
  readonly truncated: number

  constructor (message: string, refusals: Refusal[] | null = null, truncated = 0) {
    super(message)
    this.refusals = refusals
    this.truncated = truncated
  }
}

/** The broker did not respond. */
export class BrokerUnreachableError extends Error {
  override readonly name = 'BrokerUnreachableError'
}

/** Converts a failure of a broker to the error for the caller. */
export function toBrokerError (err: unknown): unknown {
  if (err instanceof BrokerRefusedError) return brokerFailed(err.message, { cause: err })
  if (err instanceof BrokerUnreachableError) return new ApiError('UNAVAILABLE', err.message, { cause: err })
  return err
}

const Text = Type.Optional(Nullable(Type.String()))

const ProgressSchema = Type.Object({
  status: Type.Optional(Type.String()),
  phase: Text,
  detail: Text,
  host: Text,
  resume: Type.Optional(Nullable(Type.Boolean())),
  core: Text,
  core_tier: Type.Optional(Nullable(StringEnum(CORE_TIERS)))
})
/** Progress of a launch. */
export type Progress = Static<typeof ProgressSchema>

const CardSchema = Type.Object({
  outcome: StringEnum(['none', ...CARD_OUTCOMES]),
  summary: Type.Optional(Nullable(Type.Object({
    file_count: Type.Integer(), total_bytes: Type.Integer(), game_codes: Type.Array(Type.String())
  }))),
  reason: Text
})
export type Card = Static<typeof CardSchema>

const RefusalsSchema = Type.Object({ refusals: Type.Array(Type.Unknown()), detail: Text })

export interface Launch {
  rom_path: string
  rom_name: string
  platform: string
  multiplayer: boolean
  /** Paths of the player's files on the emulator's machine. */
  state_path?: string
  memory_card_path?: string
  card_import?: string
}

interface BrokerResponse { status: number, text: string, json: unknown }

function readJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Cleans and shortens text of a broker for display. */
const cleanText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim().slice(0, ANSWER_SHOWN_MAX).toWellFormed()

const isOk = ({ status }: BrokerResponse) => status >= 200 && status < 300

function refusalOf (answer: BrokerResponse): BrokerRefusedError {
  const given = Value.Check(RefusalsSchema, answer.json) ? answer.json : null
  if (given === null) return new BrokerRefusedError(`Broker returned ${answer.status}: ${cleanText(answer.text)}`)
  const refusals = given.refusals.filter((one): one is Refusal => Value.Check(RefusalSchema, one))
    .map((one) => Value.Clean(RefusalSchema, Value.Clone(one)) as Refusal)
  const shown = refusals.slice(0, REFUSALS_MAX)
  return new BrokerRefusedError(cleanText(given.detail ?? 'The emulator refused a file of the player'), shown,
    given.refusals.length - shown.length)
}

function read<T extends TSchema> (schema: T, answer: BrokerResponse): Static<T> {
  if (!isOk(answer)) throw refusalOf(answer)
  if (Value.Check(schema, answer.json)) return answer.json
  throw new BrokerRefusedError(`Broker returned ${answer.status}: ${cleanText(answer.text)}`)
}

/** Creates the function that sends a request to a broker. @throws BrokerUnreachableError */
function createCall (app: FastifyInstance) {
  /** Origins of the configured brokers; the HTTP client checks this list for every connection. */
  const trustedOrigins: string[] = []
  const http = createHttpClient({ name: 'streaming', userAgent: USER_AGENT, log: app.log, trustedOrigins })
  app.addHook('onClose', () => http.close())

  return async function call (
    { broker, secret }: UsableContainer, method: 'GET' | 'POST' | 'DELETE', path: string,
    { json, timeoutMs = SHORT_MS }: { json?: object, timeoutMs?: number } = {}
  ): Promise<BrokerResponse> {
    const origin = originOf(broker)
    if (!trustedOrigins.includes(origin)) trustedOrigins.push(origin)
    try {
      const answer = await http.request(`${broker}${path}`, {
        method,
        headers: secret === null ? {} : { 'x-broker-secret': secret },
        ...(json === undefined ? {} : { json }),
        accept: ANSWERS,
        retry: false,
        redirects: 0,
        maxBytes: ANSWER_MAX_BYTES,
        timeoutMs
      })
      const text = answer.text()
      return { status: answer.status, text, json: readJson(text) }
    } catch (err) {
      app.log.warn({ err, path }, 'a streaming broker did not answer')
      throw new BrokerUnreachableError('The streaming broker does not answer; check that it runs', { cause: err })
    }
  }
}

/**
 * Client of the brokers, which run emulators on other machines. Each call throws one of the two errors above if it
 * fails.
 */
export function createBroker (app: FastifyInstance, saveSeconds: () => number) {
  const call = createCall(app)

  const post = (container: UsableContainer, path: string, json: object, timeoutMs?: number) =>
    call(container, 'POST', path, { json, ...(timeoutMs === undefined ? {} : { timeoutMs }) })

  return {
    launch: async (container: UsableContainer, launch: Launch): Promise<Progress> =>
      read(ProgressSchema, await post(container, '/launch', launch, LAUNCH_MS)),

    /** Returns the progress of the last launch. */
    follow: async (container: UsableContainer): Promise<Progress> =>
      read(ProgressSchema, await call(container, 'GET', '/launch')),

    /** Stops a running game, if any. Never throws. */
    async stop (container: UsableContainer): Promise<void> {
      const answer = await call(container, 'DELETE', '/launch').catch(() => null)
      if (answer !== null && !isOk(answer)) app.log.info({ status: answer.status }, 'a streaming broker could not end a game')
    },

    /** Returns a memory card that another game left behind. A broker without memory cards may lack this route. */
    async findCard (container: UsableContainer): Promise<Card> {
      const answer = await call(container, 'GET', '/memory-card')
      return answer.status === 404 ? { outcome: 'none' } : read(CardSchema, answer)
    },

    /** @returns true if the game was saved; false also if the broker does not confirm it in time */
    async saveAndExit (container: UsableContainer, slot: number, waits: boolean): Promise<boolean> {
      const timeoutMs = waits ? saveSeconds() * SECOND_MS : SHORT_MS
      const answer = await post(container, '/save-and-exit', { slot, wait: waits }, timeoutMs).catch(() => null)
      return answer !== null && isOk(answer) && Value.Check(Type.Object({ saved: Type.Literal(true) }), answer.json)
    },

    async setVolume (container: UsableContainer, level: number): Promise<void> {
      read(Type.Object({ status: Type.Literal('ok') }), await post(container, '/volume', { level }))
    },

    /** @returns true if the sound is muted now; null if the broker does not report it */
    async mute (container: UsableContainer, mute: boolean | null): Promise<boolean | null> {
      const answer = await post(container, '/mute', mute === null ? {} : { mute })
      return read(Type.Object({ mute: Type.Optional(Nullable(Type.Boolean())) }), answer).mute ?? null
    },

    async saveState (container: UsableContainer, slot: number): Promise<void> {
      read(Type.Object({ status: Type.Literal('saving') }), await post(container, '/save-state', { slot }))
    },

    async loadState (container: UsableContainer, slot: number): Promise<void> {
      read(Type.Object({ loaded: Type.Literal(true) }), await post(container, '/load-state', { slot }, LOAD_MS))
    },

    async swapDisc (container: UsableContainer, path: string): Promise<void> {
      read(Type.Unknown(), await post(container, '/swap-disc', { path }))
    },

    /** @returns the address for the guest, if it differs from the player's */
    join: async (container: UsableContainer, username: string): Promise<string | null> =>
      read(Type.Object({ host: Text }), await post(container, '/join', { username })).host ?? null,

    async openDesktop (container: UsableContainer): Promise<void> {
      read(Type.Unknown(), await post(container, '/desktop', {}, LAUNCH_MS))
    }
  }
}
export type Broker = ReturnType<typeof createBroker>
