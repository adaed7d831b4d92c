import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'
import { type Plugin, type PluginDefinition, createPlugin } from './plugin.ts'

export type NotificationLevel = 'info' | 'success' | 'warning' | 'error'

/** A notification as it leaves the server; text is rendered English. */
export interface OutgoingNotification {
  readonly event: 'notification'
  readonly id: number
  readonly kind: string
  readonly level: NotificationLevel
  readonly title: string
  readonly body: string
  /** Absolute link, or null when the server has no shareable address. */
  readonly url: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly actor: { readonly id: number, readonly username: string } | null
  /** ISO 8601 with UTC offset. */
  readonly created_at: string
}

/** Settings that were read out of a URL. */
export type ParsedUrl<Settings> = Settings & {
  /** What of the URL is left out, in words for who entered it. */
  readonly warnings?: readonly string[]
}

/** A way out of the inbox. A channel delivers one notification or throws; queueing and retries are the host's. */
export interface ChannelDefinition<
  Settings extends TProperties = TProperties, Config extends TProperties = TProperties
> extends PluginDefinition<Config> {
  config?: TObject<Config>
  /** Schema of one channel's settings. `writeOnly: true` marks a secret: sealed at rest and never returned. */
  settings: TObject<Settings>
  /** Whether only administrators may have such a channel. */
  adminOnly?: boolean
  /** What the destination can take; the host cuts longer text and paces deliveries. */
  limits?: { titleLength?: number, bodyLength?: number, perMinute?: number, timeoutMs?: number }

  /** @throws InvalidSettingsError when the settings cannot be used at all; anything else is retried. */
  deliver(notification: OutgoingNotification, settings: Static<TObject<Settings>>,
    ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** The destination in a form that is safe to show: no secret, no credentials. */
  describe(settings: Static<TObject<Settings>>): string | Promise<string>
  /**
   * Where settings lead, for a comparison that nobody sees: secrets that are not entered again are kept as long as it
   * stays the same. Needed where `describe` shows too little to tell.
   */
  destination?(settings: Static<TObject<Settings>>): string | Promise<string>
  /** Sends the code that proves the owner can read this destination. Its presence makes channels start unconfirmed. */
  confirm?(code: string, settings: Static<TObject<Settings>>, ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** The services this channel can reach, for a form to be drawn. */
  services?(ctx: Context<Static<TObject<Config>>>): Promise<unknown[]>
  /**
   * Reads a service URL into settings, or null when it is not understood. The context is there for services that must
   * be looked up first; without it only those known by heart are read.
   *
   * @throws InvalidSettingsError when the service is known and its URL is wrong; the message says why.
   */
  parse?(url: string, ctx?: Context<Static<TObject<Config>>>):
    ParsedUrl<Static<TObject<Settings>>> | null | Promise<ParsedUrl<Static<TObject<Settings>>> | null>
  /**
   * Looks at settings before they are kept, for rules that no schema expresses.
   *
   * @throws InvalidSettingsError that says which field is wrong and what to do.
   */
  check?(settings: Static<TObject<Settings>>, ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** The keys inside `settings.fields` that hold secrets, for a channel whose services have fields of their own. */
  secretKeys?(settings: Static<TObject<Settings>>): string[] | Promise<string[]>
}

export type Channel = Plugin<'channel', ChannelDefinition>

/** Declares a channel type. */
export function defineChannel<Settings extends TProperties = TProperties, Config extends TProperties = TProperties> (
  definition: ChannelDefinition<Settings, Config>
): Plugin<'channel', ChannelDefinition<Settings, Config>> {
  return createPlugin('channel', definition)
}
