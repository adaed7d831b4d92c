import assert from 'node:assert/strict'
import type { Preferences } from '../context.ts'
import type { InvalidSettingsError } from '../errors.ts'
import type { LinkMatch, Match } from '../metadata.ts'
import { CredentialsRefusedError, RateLimitedError, ServiceDownError } from '../errors.ts'
import { type SuiteContext, createSuiteContext, failOnUnplanned } from './context.ts'
import type { AnyPlugin } from './definition.ts'
import { FAULTS, type Fault, isTypedError, poorShapes, wrongShapes } from './faults.ts'
import { type PlannedResponse, type RecordedRequest, type Responses, matchesRequest, loadResponses } from './responses.ts'
import { errorText } from './values.ts'

// Far above the time that a response from memory takes, far below a test runner's own limit.
const CALL_LIMIT_MS = 20_000
// With more requests than this in one call, the later requests are of the same kinds as the first ones.
const MAX_POSITIONS = 6

/** One call of a plugin's method, with the check of its result. */
export interface Call {
  readonly name: string
  /** True if the call may lead to a match. */
  readonly isLookup?: boolean
  run (ctx: SuiteContext): Promise<unknown>
  /** @throws Error when the method must not return such a result. */
  check (result: unknown): void
  /** The faults after which the call must find nothing or throw; default all. */
  readonly emptyAfter?: readonly Fault[]
  /** An error that is an expected result of this call alone. */
  readonly mayThrow?: typeof InvalidSettingsError
}

export interface CallOptions {
  config?: unknown
  responses?: Responses | undefined
  files?: Readonly<Record<string, string>> | undefined
  folders?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  options?: Readonly<Record<string, unknown>> | undefined
  found?: Readonly<Record<string, Match | LinkMatch>> | undefined
  preferences?: Partial<Preferences> | undefined
  /** Prepares a fresh context for calls of methods, such as by building its index. */
  prepare?: ((ctx: SuiteContext) => Promise<void>) | undefined
}

/** The differences from the planned course of a call. */
export interface Disturbance {
  /** Replaces the planned responses; `index` counts the call's own requests. */
  intercept?: (request: RecordedRequest, index: number) => PlannedResponse | undefined
  controller?: AbortController
  /** The response to requests that match no planned response. */
  fallback?: PlannedResponse
  files?: Readonly<Record<string, string>>
}

/** The outcome of a call. */
export interface CallResult {
  readonly ctx: SuiteContext
  readonly result: unknown
  readonly error: unknown
  /** The responses to the call itself, without those of the preparation. */
  readonly answers: readonly PlannedResponse[]
}

/** Calls a plugin's methods, each with a context of its own. */
export function createCaller (plugin: AnyPlugin, options: CallOptions) {
  const planned = loadResponses(options.responses ?? [])

  async function start (call: Call, disturbance: Disturbance = {}) {
    const { intercept, controller = new AbortController(), fallback, files = options.files ?? {} } = disturbance
    let first: number | null = null
    const ctx: SuiteContext = createSuiteContext(plugin.definition, options.config ?? {}, {
      responses: fallback === undefined ? planned : [...planned, fallback],
      files,
      folders: options.folders ?? {},
      options: options.options ?? {},
      found: options.found ?? {},
      preferences: options.preferences ?? {},
      signal: controller.signal,
      intercept: (request, index) => first === null ? undefined : intercept?.(request, index - first)
    })
    await plugin.definition.setup?.(ctx)
    await options.prepare?.(ctx)
    failOnUnplanned(ctx)
    first = ctx.requests.length
    const before = ctx.answers.length
    const run = async (): Promise<CallResult> => {
      const outcome = await awaitCall(withLimit(call.run(ctx), call.name))
      return { ctx, ...outcome, answers: ctx.answers.slice(before) }
    }
    return { ctx, run }
  }

  /** @throws the error of the call, or Error for a wrong result or an unplanned request. */
  async function succeed (call: Call): Promise<CallResult> {
    const outcome = await (await start(call)).run()
    failOnUnplanned(outcome.ctx)
    const { error } = outcome
    if (error !== undefined) throw new Error(`${call.name} threw ${errorText(error)}`, { cause: error })
    call.check(outcome.result)
    return outcome
  }
  return { start, succeed }
}

export type Caller = ReturnType<typeof createCaller>

async function awaitCall (promise: Promise<unknown>): Promise<{ result: unknown, error: unknown }> {
  try {
    return { result: await promise, error: undefined }
  } catch (error) {
    return { result: undefined, error: error ?? new Error('it threw undefined') }
  }
}

async function withLimit (promise: Promise<unknown>, what: string): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${what} did not end within ${CALL_LIMIT_MS} ms; does it wait for something?`))
    }, CALL_LIMIT_MS)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Checks that an aborted signal ends the call with exactly its reason, aborted before the call or during any request.
 */
export async function checkAbort (caller: Caller, call: Call) {
  const { answers } = await caller.succeed(call)
  for (let position = -1; position < Math.min(answers.length, MAX_POSITIONS); position++) {
    const controller = new AbortController()
    const reason = new Error('the scan was cancelled')
    const intercept = (_request: RecordedRequest, index: number) => {
      if (index === position) controller.abort(reason)
      return undefined
    }
    const { run } = await caller.start(call, { intercept, controller })
    if (position === -1) controller.abort(reason)
    const { error, result } = await run()
    const when = position === -1 ? 'before it began' : `during request ${position + 1}`
    assert.ok(error !== undefined, `${call.name} was aborted ${when} and still gave ${JSON.stringify(result)?.slice(0, 200)}`)
    assert.equal(error, reason, `${call.name}, aborted ${when}, must reject with the signal's reason, not ${errorText(error)}`)
  }
}

/** Checks that a call throws a typed error or finds nothing, for each fault and from each request on. */
export async function checkFaults (caller: Caller, call: Call, checkText: (text: string) => void) {
  const { answers } = await caller.succeed(call)
  for (const [fault, response] of FAULTS) {
    for (let position = 0; position < Math.min(answers.length, MAX_POSITIONS); position++) {
      const { run } = await caller.start(call, {
        intercept: (_request, index) => index >= position ? response : undefined
      })
      const outcome = await run()
      const what = `${call.name}, answered with ${fault} from request ${position + 1} on,`
      checkOutcome(call, outcome, what, checkText)
      const mayFind = position > 0 || call.emptyAfter?.includes(fault) === false
      assert.ok(mayFind || isNothing(outcome.result), `${what} must find nothing or throw, not give ${describe(outcome.result)}`)
    }
  }
}

/**
 * A 401 to a request that carries a secret means that the service refuses the key. The call must throw
 * CredentialsRefusedError, because after an HttpStatusError, or nothing found, the host keeps using that key. A
 * provider may also treat 401 as an outage.
 */
export async function checkRefusedKey (caller: Caller, call: Call, secrets: readonly string[]) {
  let carriesKey = false
  const { run } = await caller.start(call, {
    intercept (request) {
      const text = JSON.stringify([request.url, request.headers, request.body])
      carriesKey ||= secrets.some((secret) => text.includes(secret) || text.includes(encodeURIComponent(secret)))
      return carriesKey ? FAULTS.get('status 401') : undefined
    }
  })
  const { error, result } = await run()
  const isRead = [CredentialsRefusedError, RateLimitedError, ServiceDownError].some((type) => error instanceof type)
  if (!carriesKey || isRead) return
  const outcome = error === undefined ? `gave ${describe(result)}` : `threw ${errorText(error)}`
  throw new Error(`${call.name}, whose key was refused with status 401, ${outcome}. Pass accept: [401, 403] to the request ` +
    'and throw CredentialsRefusedError for these', { cause: error })
}

/**
 * Checks that JSON with a value of another type, or with half of its fields missing, never causes an invalid result.
 */
export async function checkWrongShapes (caller: Caller, call: Call, checkText: (text: string) => void) {
  const { answers } = await caller.succeed(call)
  for (const planned of new Set(answers)) {
    const usual = readJson(planned)
    for (const { change, value } of [...wrongShapes(usual), ...poorShapes(usual)]) {
      const json = JSON.stringify(value)
      const { run } = await caller.start(call, {
        intercept: (request) => matchesRequest(planned, request) ? { ...planned, bytes: Buffer.from(json) } : undefined,
        // A changed id makes a changed URL, which leads to nothing.
        fallback: { url: '*', status: 404 }
      })
      checkOutcome(call, await run(), `${call.name}, answered with ${change},`, checkText)
    }
  }
}

/**
 * Checks that damaged files have the effect of absent ones or cause an error that says so, never a bug of the plugin.
 */
export async function checkBrokenFiles (caller: Caller, call: Call, files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    for (const broken of ['', '\0\u{fffd}', '<', '{', 'null', text.slice(0, text.length / 2)]) {
      const { run } = await caller.start(call, { files: { ...files, [path]: broken } })
      const { error, result } = await run()
      const what = `${call.name}, with ${path} being ${JSON.stringify(broken.slice(0, 40))},`
      if (error === undefined) call.check(result)
      else assert.ok(!isBug(error), `${what} must find nothing or throw an error that explains the problem, but threw ${errorText(error)}`)
    }
  }
}

function isBug (error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((type) => error instanceof type)
}

function readJson ({ json, text, bytes }: PlannedResponse): unknown {
  if (json !== undefined) return json
  const body = bytes === undefined ? text ?? '' : Buffer.from(bytes).toString()
  try {
    const value: unknown = JSON.parse(body)
    return value
  } catch {
    return null
  }
}

function checkOutcome (call: Call, { error, result }: CallResult, what: string, checkText: (text: string) => void) {
  if (error !== undefined) {
    checkText(errorText(error))
    if (isTypedError(error) || (call.mayThrow !== undefined && error instanceof call.mayThrow)) return
    throw new Error(`${what} must throw one of the SDK's errors or find nothing, but threw ${errorText(error)}`, { cause: error })
  }
  try {
    call.check(result)
  } catch (err) {
    throw new Error(`${what} gave a result that is not allowed: ${errorText(err)}`, { cause: err })
  }
}

function isNothing (value: unknown): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)
}

function describe (value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 300)
}
