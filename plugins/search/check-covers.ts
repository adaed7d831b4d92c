import type { CoverGroup, ProviderDefinition } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { toStorable } from '../../core/database/json.ts'
import { PluginAnswerError } from '../../core/loader/calls/answer-error.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { checkAddresses } from '../matching/check-match.ts'

/** A web address, because clients open it. */
const Address = Type.String({ pattern: '^[hH][tT][tT][pP][sS]?://' })
const Text = Type.Optional(Type.String())
const Count = Type.Optional(Type.Number({ minimum: -2_147_483_648, maximum: 2_147_483_647 }))
const Flag = Type.Optional(Type.Boolean())

const groups = TypeCompiler.Compile(Type.Array(Type.Object({
  name: Type.String(),
  covers: Type.Array(Type.Object({
    url: Address,
    thumb: Address,
    width: Count,
    height: Count,
    score: Count,
    style: Text,
    author: Text,
    is_animated: Flag,
    nsfw: Flag,
    humor: Flag,
    epilepsy: Flag
  }))
})))

/**
 * Returns a copy of the covers that can be stored.
 *
 * @throws PluginAnswerError with the problem of a provider's covers
 */
export function checkCovers (given: unknown, provider: Loaded<ProviderDefinition>): CoverGroup[] {
  if (!groups.Check(given)) {
    const [problem] = [...groups.Errors(given)]
    throw new PluginAnswerError(`Provider '${provider.key}' returned covers whose ${problem?.path.slice(1) || 'shape'} is wrong: ` +
      (problem?.message ?? 'it is not a list'))
  }
  checkAddresses(given.flatMap(({ covers }) => covers.flatMap(({ url, thumb }) => [url, thumb])), provider)
  return toStorable(given.map(({ name, covers }) =>
    ({ name, covers: covers.filter(({ url, thumb }) => provider.allowsMedia(url) && provider.allowsMedia(thumb)) })))
}
