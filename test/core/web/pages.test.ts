import fastify from 'fastify'
import t from 'tap'
import { createPageRoutes } from '../../../core/web/pages/page.ts'
import { loadConfig } from '../../load-config.ts'

t.test('a page loads its parts below the base URL, and its script is unchanged', async (t) => {
  const folder = t.testdir({
    'hello.html': '<link href="{{base}}/say/hello.css"><script src="{{base}}/say/hello.js"></script>',
    'hello.js': 'const braces = "{{base}}"'
  })
  const { config } = loadConfig({ SVC_DATA_DIR: t.testdirName, SVC_BASE_URL: 'https://home.example/games' })
  const server = fastify()
  t.teardown(() => server.close())
  const base = new URL(`file://${folder}/`)
  await server.register(createPageRoutes(config, {
    path: '/say/hello', folder: base, name: 'hello', script: new URL('hello.js', base)
  }))
  const page = await server.inject('/say/hello')
  t.match(page.headers, { 'content-type': /^text\/html/, 'cache-control': 'no-cache' })
  t.equal(page.body, '<link href="/games/say/hello.css"><script src="/games/say/hello.js"></script>')
  t.equal((await server.inject('/say/hello.js')).body, 'const braces = "{{base}}"')
  t.match(await server.inject('/say/hello.css'), { statusCode: 200, headers: { 'content-type': /^text\/css/ } })
})
