import { parseXml, xmlChildren, xmlText } from '@svc/plugin-sdk/xml'
import type { App } from '../../../core/typebox.ts'
import { until } from '../../until.ts'

/** Scans the whole library without asking any provider. */
export async function scan (app: App, headers: { authorization: string }) {
  const { task_id: id } = (await app.inject({ method: 'POST', url: '/api/tasks/scan', headers, payload: { apis: [] } }))
    .json<{ task_id: string }>()
  const read = async () =>
    (await app.inject({ url: `/api/tasks/${id}`, headers })).json<{ status: string, meta: { problems: object[] } }>()
  await until(async () => (await read()).status === 'finished', 'the scan ends')
  return await read()
}

/** Parses the games of a gamelist.xml by path, each as a record of its elements. */
export function readGamelist (text: string): Map<string, Record<string, string>> {
  const games = parseXml(text).flatMap((root) => xmlChildren(root, 'game')).map((game) =>
    Object.fromEntries(xmlChildren(game).map((element) => [element.name, xmlText(element)])))
  return new Map(games.map((game) => [game.path ?? '', game]))
}
