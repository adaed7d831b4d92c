import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

export const ConfigSchema = Type.Object({
  apiKey: Type.String({
    minLength: 1, env: 'RETROACHIEVEMENTS_API_KEY', writeOnly: true, description: 'Web API key of one account'
  }),
  hashDays: Type.Integer({
    default: 30,
    minimum: 0,
    env: 'REFRESH_RETROACHIEVEMENTS_CACHE_DAYS',
    description: 'Days after which the list of a console\'s hashes is fetched again'
  }),
  progress_sync: Type.Optional(Type.Boolean({
    env: 'ENABLE_SCHEDULED_RETROACHIEVEMENTS_PROGRESS_SYNC',
    description: 'Reads the progress of all users on a schedule'
  })),
  progress_cron: Type.Optional(Type.String({
    pattern: '^\\S+( \\S+){4}$',
    env: 'SCHEDULED_RETROACHIEVEMENTS_PROGRESS_SYNC_CRON',
    description: 'Schedule of that: five cron fields (minute, hour, day, month, weekday), in UTC'
  }))
})

export type RaContext = ProviderContextOf<typeof ConfigSchema>
