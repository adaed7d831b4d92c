import { type TestApp } from '../../support.ts'

export const HOST = 'games.example:8080'

export const get = ({ app, admin }: TestApp, url: string, headers: Record<string, string> = admin) =>
  app.inject({ url, headers: { ...headers, host: HOST } })
