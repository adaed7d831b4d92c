import type { Static, TObject, TProperties } from '@sinclair/typebox'
import type { Context } from './context.ts'
import type { Plugin, PluginDefinition } from './plugin.ts'

/** The importance of a notification; destinations use it for colours and icons. */
export type NotificationLevel = 'info' | 'success' | 'warning' | 'error'

/** A notification as the server sends it; text is rendered English. */
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

/** Settings read from a URL. */
export type ParsedUrl<Settings> = Settings & {
  /** Parts of the URL that the settings ignore, in words for the person who entered it. */
  readonly warnings?: readonly string[]
}

/** A way out of the inbox. A channel delivers one notification or throws; the host queues and retries. */
export interface ChannelDefinition<
  Settings extends TProperties = TProperties, Config extends TProperties = TProperties
> extends PluginDefinition<Config> {
  config?: TObject<Config>
  /** Schema of one channel's settings. `writeOnly: true` marks a secret: sealed at rest and never returned. */
  settings: TObject<Settings>
  /** True if only administrators may create such a channel. */
  adminOnly?: boolean
  /** Limits of the destination; the host cuts longer text and rate-limits deliveries. */
  limits?: { titleLength?: number, bodyLength?: number, perMinute?: number, timeoutMs?: number }

  /** @throws InvalidSettingsError when the settings cannot work at all; the host retries after any other error. */
  deliver(notification: OutgoingNotification, settings: Static<TObject<Settings>>,
    ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** Returns the destination in a form that is safe to show: no secret, no credentials. */
  describe(settings: Static<TObject<Settings>>): string | Promise<string>
  /**
   * Returns an identity of the destination, only for comparison and never shown. The host retains secrets that a
   * person does not enter again while this identity stays the same. Needed when `describe` shows too little to
   * compare.
   */
  destination?(settings: Static<TObject<Settings>>): string | Promise<string>
  /**
   * Sends the code that proves that the owner can read this destination. If present, new channels start unconfirmed.
   */
  confirm?(code: string, settings: Static<TObject<Settings>>, ctx: Context<Static<TObject<Config>>>): Promise<void>
  /** Lists the services that this channel can reach, for a form. */
  services?(ctx: Context<Static<TObject<Config>>>): Promise<unknown[]>
  /**
   * Reads a service URL into settings, or returns null when no service matches it. Some services need a lookup
   * through the context. Without a context, `parse` reads only URLs of built-in services.
   *
   * @throws InvalidSettingsError when the service is known and its URL is wrong; the message says why.
   */
  parse?(url: string, ctx?: Context<Static<TObject<Config>>>):
    ParsedUrl<Static<TObject<Settings>>> | null | Promise<ParsedUrl<Static<TObject<Settings>>> | null>
  /**
   * Checks settings before the host stores them, for rules that no schema expresses.
   *
   * @throws InvalidSettingsError that says which field is wrong and what to do.
   */
  check?(settings: Static<TObject<Settings>>, ctx: Context<Static<TObject<Config>>>): Promise<void>
  /**
   * Returns the keys inside `settings.fields` that hold secrets, for a channel whose services have fields of their
   * own.
   */
  secretKeys?(settings: Static<TObject<Settings>>): string[] | Promise<string[]>
}

/** A channel of any type, as a package exports it. */
export type Channel = Plugin<'channel', ChannelDefinition>

/** Declares a channel type. */
export function defineChannel<Settings extends TProperties = TProperties, Config extends TProperties = TProperties> (
  definition: ChannelDefinition<Settings, Config>
): Plugin<'channel', ChannelDefinition<Settings, Config>> {
  return { kind: 'channel', definition }
}
