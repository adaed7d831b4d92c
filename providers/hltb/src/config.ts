import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'HLTB_API_ENABLED', description: 'Enables lookups at HowLongToBeat' }),
  searchWord: Type.String({
    default: 'bleed', pattern: '^[\\w-]+$', env: 'HLTB_SEARCH_WORD',
    description: 'Last part of the URL of the search; after a 404 another one is looked up on the pages of the site'
  })
})

export type HltbContext = ProviderContextOf<typeof ConfigSchema>
