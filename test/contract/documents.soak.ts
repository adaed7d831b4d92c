import { Parser } from '@asyncapi/parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { shareTestApp } from '../support.ts'

const fresh = shareTestApp(t)

/** Runs `redocly lint` with its recommended rules. */
async function lint (text: string, name: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    // Apps call these paths. A fixed word comes before a parameter, so each address leads to one route.
    rules: { 'no-ambiguous-paths': 'off' }
  })
  const problems = await lintFromString({ source: text, absoluteRef: name, config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} at ${location.map(({ pointer }) => pointer).join()}: ${message}`)
}

/** Schemas of plugins describe forms, and no operation refers to them. */
const OF_PLUGIN = /^no-unused-components at #\/components\/schemas\/(provider|channel|exporter)_\w+:/

t.test('both documents pass the recommended rules of a linter', async (t) => {
  const { app } = await fresh(t)
  for (const name of ['openapi.json', 'asyncapi.json']) {
    const { body } = await app.inject({ url: `/${name}` })
    t.same((await lint(body, name)).filter((line) => !OF_PLUGIN.test(line)), [], name)
  }
  const problems = await lint('{"openapi":"3.1.0","info":{},"paths":{}}', 'broken.json')
  t.match(problems.join(), 'The field `title` must be present', 'the linter sees what is wrong')
})

/** The severity of problems that make a document invalid. */
const ERROR = 0

t.test('the document of events is valid for the AsyncAPI parser', async (t) => {
  const { app } = await fresh(t)
  const parser = new Parser()
  const listErrors = async (text: string) => (await parser.validate(text))
    .filter(({ severity }) => Number(severity) === ERROR).map(({ path, message }) => `${path.join('/')}: ${message}`)
  t.same(await listErrors((await app.inject({ url: '/asyncapi.json' })).body), [])
  t.not((await listErrors('{"asyncapi":"3.0.0","info":{}}')).length, 0, 'the parser sees what is missing')
})
