import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

// Every URL contains all four values, so all four are hidden in logs and API responses.
export const ConfigSchema = Type.Object({
  user: Type.String({ minLength: 1, env: 'SCREENSCRAPER_USER', writeOnly: true, description: 'Login of your account' }),
  password: Type.String({
    minLength: 1, env: 'SCREENSCRAPER_PASSWORD', writeOnly: true, description: 'Password of your account'
  }),
  devId: Type.String({
    minLength: 1, env: 'SCREENSCRAPER_DEV_ID', writeOnly: true, description: 'Developer id, which the site gives on request'
  }),
  devPassword: Type.String({
    minLength: 1, env: 'SCREENSCRAPER_DEV_PASSWORD', writeOnly: true, description: 'Password of the developer id'
  })
})

export type SsContext = ProviderContextOf<typeof ConfigSchema>

/** Returns the query parameters that authenticate a request. */
export const credentials = ({ config }: Pick<SsContext, 'config'>) => ({
  devid: config.devId, devpassword: config.devPassword, softname: 'svc', ssid: config.user, sspassword: config.password
})
