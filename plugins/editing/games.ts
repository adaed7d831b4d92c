import type { Match, ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { checkCircuit } from '../circuits/check-circuit.ts'
import { checkMatch } from '../matching/check-match.ts'
import { type ProviderMatch, type ProviderMatches, idOf } from '../matching/matches.ts'
import type { RomForLookup } from '../matching/rom-for-lookup.ts'

type Provider = Loaded<ProviderDefinition>

/** Creates the calls to providers about the game that a person chose. */
export function createGames (app: FastifyInstance) {
  const { providers } = app.registry

  /**
   * Loads the game with an id. If the provider has no such call, fails or finds nothing, the match contains only the
   * id.
   */
  async function readGame (key: string, id: ProviderId, rom: RomForLookup, scope: CallScope): Promise<ProviderMatch> {
    const provider = providers.get(key)
    const bare: Match = { id }
    if (provider?.definition.getById === undefined) return bare
    try {
      checkCircuit(provider, app.circuits.of(key))
      const game = await callProvider(provider, scope, async (definition, ctx) =>
        await definition.getById?.(id, rom.toSdk(definition), ctx))
      return game === undefined ? bare : checkMatch(game, provider)
    } catch (err) {
      scope.signal.throwIfAborted()
      app.log.warn({ err, provider: key, rom: rom.rom.fs_name }, 'provider could not return the chosen game')
      return bare
    }
  }

  /** Suggests the chosen ids to all providers that accept suggestions. Their results change nothing here. */
  async function suggest (rom: RomForLookup, matches: ProviderMatches, scope: CallScope): Promise<void> {
    const ids = Object.fromEntries([...matches].flatMap(([key, found]) => {
      const id = idOf(found)
      return id === null ? [] : [[key, id] as const]
    }))
    const accepting = [...providers.values()]
      .filter(({ definition }) => definition.suggest !== undefined && rom.isSupportedBy(definition))
    await Promise.all(accepting.map(async (provider: Provider) => {
      try {
        checkCircuit(provider, app.circuits.of(provider.key))
        await callProvider(provider, scope, async (definition, ctx) =>
          await definition.suggest?.(rom.toSdk(definition), ids, ctx))
      } catch (err) {
        scope.signal.throwIfAborted()
        app.log.warn({ err, provider: provider.key, rom: rom.rom.fs_name }, 'provider did not accept a suggestion')
      }
    }))
  }

  return { read: readGame, suggest }
}
