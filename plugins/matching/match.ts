import type { Match, ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { callProvider } from '../../core/loader/call-provider.ts'
import type { CallScope } from '../../core/loader/call-scope.ts'
import { createMemo } from '../../core/loader/memo.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { checkAsked } from '../circuits/left-out.ts'
import { nameSortKey } from '../library/names.ts'
import { noteEdit } from '../library/version-rows.ts'
import { checkMatch } from '../scans/identify/ask/check-match.ts'
import { type Found, type Founds, idOf, isIdentified } from '../scans/identify/findings.ts'
import { toMergeBase } from '../scans/identify/merge/merge-base.ts'
import { mergeMatches, readPriorities } from '../scans/identify/merge/merge.ts'
import { type RomAtProviders, loadRomAtProviders } from '../scans/identify/rom-at-providers.ts'
import { createMatchStore } from '../scans/store/match-rows.ts'

/** What a person says a ROM is: ids by provider, null for none; or that all providers are wrong. */
export type MatchCall =
  { kind: 'match', rom_id: number, ids: Readonly<Record<string, ProviderId | null>> } |
  { kind: 'unmatch', rom_id: number }

type Provider = Loaded<ProviderDefinition>

/** Its id is read from a file beside the ROM, and says nothing about what other people know of the game. */
const KEPT_BY_UNMATCH = 'gamelist'

/** Matches a ROM as a person says. Providers' code runs in the scan worker alone. */
export function createMatcher (app: FastifyInstance, config: Config) {
  const { providers } = app.registry
  const store = createMatchStore(app.pg)

  /** The game with this id; one that cannot be asked for, or is not found, is known by its id alone. */
  async function readGame (key: string, id: ProviderId, rom: RomAtProviders, scope: CallScope): Promise<Found> {
    const provider = providers.get(key)
    const bare: Match = { id }
    if (provider?.definition.getById === undefined) return bare
    try {
      checkAsked(provider, app.circuits.of(key))
      const game = await callProvider(provider, scope, async (definition, ctx) =>
        await definition.getById?.(id as never, rom.toSdk(definition), ctx))
      return game === undefined ? bare : checkMatch(game, provider)
    } catch (err) {
      scope.signal.throwIfAborted()
      app.log.warn({ err, provider: key, rom: rom.rom.fs_name }, 'provider did not give the game that was chosen')
      return bare
    }
  }

  async function write (rom: RomAtProviders, found: Founds, dropped: readonly string[]): Promise<Founds> {
    const kept = [...rom.stored].filter(([key]) => !dropped.includes(key))
    const all = new Map([...kept, ...found])
    const priorities = readPriorities(config, providers)
    const merged = mergeMatches(all, toMergeBase(rom.rom, false), priorities)
    await store.writeMatches([{
      rom_id: rom.rom.id, matches: found, dropped, merged: { ...merged, is_identified: isIdentified(all, providers) }
    }])
    return all
  }

  /** Tells those who want to know which ids a person chose. What they make of it changes nothing here. */
  async function suggest (rom: RomAtProviders, founds: Founds, scope: CallScope): Promise<void> {
    const ids = Object.fromEntries([...founds].flatMap(([key, found]) => {
      const id = idOf(found)
      return id === null ? [] : [[key, id] as const]
    }))
    const told = [...providers.values()]
      .filter(({ definition }) => definition.suggest !== undefined && rom.isKnownTo(definition))
    await Promise.all(told.map(async (provider: Provider) => {
      try {
        checkAsked(provider, app.circuits.of(provider.key))
        await callProvider(provider, scope, async (definition, ctx) =>
          await definition.suggest?.(rom.toSdk(definition), ids, ctx))
      } catch (err) {
        scope.signal.throwIfAborted()
        app.log.warn({ err, provider: provider.key, rom: rom.rom.fs_name }, 'provider did not take a suggestion')
      }
    }))
  }

  async function match (
    { ids }: Extract<MatchCall, { kind: 'match' }>, rom: RomAtProviders, scope: CallScope
  ): Promise<void> {
    const stored = (key: string) => {
      const found = rom.stored.get(key)
      return found === undefined ? null : idOf(found)
    }
    const changed = Object.entries(ids).filter(([key, id]) => String(id ?? '') !== String(stored(key) ?? ''))
    const chosen = changed.flatMap(([key, id]) => id === null ? [] : [[key, id] as const])
    if (changed.length === 0) return
    const found = await Promise.all(chosen.map(async ([key, id]) =>
      [key, await readGame(key, id, rom, scope)] as const))
    const all = await write(rom, new Map(found), changed.map(([key]) => key).filter((key) => ids[key] === null))
    if (chosen.length > 0) await suggest(rom, all, scope)
  }

  async function unmatch (rom: RomAtProviders): Promise<void> {
    const own = rom.stored.get(KEPT_BY_UNMATCH)
    const id = own === undefined ? null : idOf(own)
    const left: Founds = id === null ? new Map() : new Map([[KEPT_BY_UNMATCH, { id }]])
    const priorities = readPriorities(config, new Map())
    const merged = mergeMatches(left, toMergeBase(rom.rom, true), priorities)
    const { fs_name: name } = rom.rom
    await store.writeMatches([{
      rom_id: rom.rom.id,
      matches: left,
      dropped: [...rom.stored.keys()].filter((key) => !left.has(key)),
      merged: { ...merged, name, name_sort_key: nameSortKey(name), is_identified: isIdentified(left, providers) }
    }])
  }

  return async (call: MatchCall, signal: AbortSignal): Promise<null> => {
    const rom = await loadRomAtProviders(app, config, call.rom_id)
    if (rom === null) return null
    if (call.kind === 'unmatch') await unmatch(rom)
    else await match(call, rom, { signal, memo: createMemo(), preferences: rom.preferences })
    // Whoever chose is to see it at once, unlike what a scan finds.
    await noteEdit(app.orm.em.fork())
    return null
  }
}
