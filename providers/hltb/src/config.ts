import { type ContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  enabled: Type.Boolean({ default: false, env: 'HLTB_API_ENABLED', description: 'Whether HowLongToBeat is asked' }),
  searchWord: Type.String({
    default: 'bleed', pattern: '^[\\w-]+$', env: 'HLTB_SEARCH_WORD',
    description: 'Last part of the address of its search; another is looked for on its pages when there is no such search'
  })
})

export type HltbContext = ContextOf<typeof ConfigSchema>
