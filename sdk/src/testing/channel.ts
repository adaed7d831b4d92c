import assert from 'node:assert/strict'
import type { Channel, ChannelDefinition, OutgoingNotification } from '../channel.ts'
import { type Call, type Caller, checkAbort, createCaller } from './calls.ts'
import type { SuiteContext } from './context.ts'
import { checkDefinition, checkNoSecrets, checkSettings, secretValues } from './definition.ts'
import { FAULTS } from './faults.ts'
import { checkIsolation } from './isolation.ts'
import { checkPackage } from './package.ts'
import type { Responses } from './responses.ts'
import type { TestRunner } from './runner.ts'
import { createNotification } from './samples.ts'
import { checkSchema, fillDefaults } from './schema.ts'
import { deepFreeze, errorText } from './values.ts'

/** The inputs of {@link testChannel}. Only `settings` is required. */
export interface ChannelSuite {
  /** The package's folder or package.json. If set, the suite also checks README, CHANGELOG and manifest. */
  packageUrl?: URL | string
  /** The configuration; the suite fills in defaults. */
  config?: unknown
  /** Settings of a channel that works with the planned responses, secrets included. */
  settings: Readonly<Record<string, unknown>>
  /** The responses of the destination. */
  responses?: Responses
  /** For a channel that does not use `ctx.http`: returns the number of deliveries that have arrived. */
  deliveries?: () => number
  /** For such a channel: settings whose destination refuses or does not exist. */
  failing?: Readonly<Record<string, unknown>>
  /** Prepares a fresh context for use. */
  prepare?: (ctx: SuiteContext) => Promise<void>
}

const UNUSUAL_NOTIFICATIONS: readonly Partial<OutgoingNotification>[] = [
  { title: 'Two\nlines\r\nand a header: yes' },
  { title: '🎮 Ünïcödé \u202e right to left 👩‍👩‍👧' },
  { title: 'x'.repeat(4096), body: 'y'.repeat(4096) },
  { title: '"quoted" & <b>marked</b> \\ %00 {{x}} $x' },
  { title: '', body: '' },
  { url: null, actor: null, data: {} },
  { data: { nested: { list: [1, null, 'three'] } } }
]

/** Runs the conformance suite of channels. Every channel's own test calls this function. */
export async function testChannel (t: TestRunner, channel: Channel, suite: ChannelSuite) {
  const { definition } = channel
  const { packageUrl } = suite
  const caller = createCaller(channel, suite)
  const settings = deepFreeze(fillDefaults(definition.settings, suite.settings))
  const deliver = createDeliver(definition, settings)

  await t.test('the definition can be used by the host', async () => {
    checkDefinition(channel, 'channel')
    checkSettings(definition.settings, 'settings')
    checkSchema(definition.settings, settings, 'the settings given to the test')
  })
  if (packageUrl !== undefined) {
    await t.test('the package can be published', async () => { await checkPackage(channel, packageUrl) })
  }
  await t.test('a delivery reaches the destination', () => checkArrival(caller, deliver, suite))
  await t.test('a failed delivery throws an error', () => checkFailure(caller, definition, deliver, suite))
  await t.test('an aborted signal ends a delivery with its reason', () => checkAbort(caller, deliver))
  await t.test('the description shows no secret', async () => { await checkDescription(definition, settings) })
  await t.test('awkward notifications are delivered', async () => {
    for (const overrides of UNUSUAL_NOTIFICATIONS) await caller.succeed(createDeliver(definition, settings, overrides))
  })
  await t.test('the channel uses nothing but its context', () => checkIsolation(() => caller.succeed(deliver)))
  if (definition.parse !== undefined) {
    await t.test('parse returns null for an unknown URL', () => checkParse(definition))
  }
  await definition.close?.()
}

function createDeliver (
  definition: ChannelDefinition, settings: unknown, overrides: Partial<OutgoingNotification> = {}
): Call {
  const notification = deepFreeze(createNotification(overrides))
  return {
    name: 'deliver',
    run: async (ctx) => definition.deliver(notification, settings as never, ctx),
    check: (result) => { assert.equal(result, undefined, 'deliver gives nothing; a failure is an error') }
  }
}

async function checkArrival (caller: Caller, deliver: Call, { deliveries }: Pick<ChannelSuite, 'deliveries'>) {
  const before = deliveries?.() ?? 0
  const { ctx } = await caller.succeed(deliver)
  const arrived = deliveries === undefined ? ctx.requests.length : deliveries() - before
  assert.ok(arrived >= 1, 'deliver succeeded, but nothing arrived')
}

async function checkFailure (
  caller: Caller, definition: ChannelDefinition, deliver: Call, suite: Pick<ChannelSuite, 'deliveries' | 'failing' | 'settings'>
) {
  const secrets = await secretsOf(definition, suite.settings)
  if (suite.failing !== undefined) {
    const { run } = await caller.start(createDeliver(definition, suite.failing))
    checkRejected((await run()).error, 'deliver to a destination that fails', secrets)
  }
  if (suite.deliveries !== undefined) {
    assert.ok(suite.failing !== undefined, 'give the suite failing: settings whose destination refuses or is not there')
    return
  }
  for (const [fault, response] of FAULTS) {
    // Many destinations send an empty or irrelevant body after a delivery.
    if (!fault.startsWith('status') && fault !== 'a time-out') continue
    const { run } = await caller.start(deliver, { intercept: () => response })
    checkRejected((await run()).error, `deliver, answered with ${fault},`, secrets)
  }
}

function checkRejected (error: unknown, what: string, secrets: readonly string[]) {
  assert.ok(error instanceof Error, `${what} must throw an error, so that the host can try again`)
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError
  assert.ok(!isBug, `${what} must throw an error that says what happened, not ${errorText(error)}`)
  checkNoSecrets(secrets, errorText(error), 'an error message')
}

async function checkDescription (definition: ChannelDefinition, settings: unknown) {
  const text = await definition.describe(settings as never)
  assert.equal(typeof text, 'string', 'describe must give a text')
  assert.ok(text.trim() !== '', 'describe must name the destination')
  checkNoSecrets(await secretsOf(definition, settings), text, 'describe()')
}

/** Returns the values marked `writeOnly` and the values of the fields that the channel declares secret. */
async function secretsOf (definition: ChannelDefinition, settings: unknown): Promise<string[]> {
  const keys = await definition.secretKeys?.(settings as never) ?? []
  const fields = typeof settings === 'object' && settings !== null ? Object.entries(Reflect.get(settings, 'fields') ?? {}) : []
  const named = fields.filter(([key]) => keys.includes(key)).flatMap(([, value]) => [value].flat().map(String))
  return [...secretValues(definition.settings, settings), ...named.filter((text) => text.length >= 4)]
}

async function checkParse (definition: ChannelDefinition) {
  for (const text of ['', 'nonsense', 'unheard-of://', 'unheard-of://host/path']) {
    assert.equal(await definition.parse?.(text), null, `parse must give null for "${text}", which no channel understands`)
  }
}
