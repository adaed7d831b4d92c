import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import swaggerUi from '@fastify/swagger-ui'
import type { Config } from '../../config/config.ts'
import { basePath } from '../../config/base-url.ts'
import type { Routes } from '../../typebox.ts'

const REDOC = join(dirname(createRequire(import.meta.url).resolve('redoc/package.json')), 'bundles/redoc.standalone.js')
/** Redoc loads its makers' logo from their server. */
const REDOC_FOREIGN = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const EMPTY_PICTURE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"
export const LOGO_PATH = '/api/redoc/logo.svg'
/** The pages need inline styles, and Redoc needs a worker from a blob. */
const CSP = "default-src 'self'; script-src 'self' blob:; worker-src blob:; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'"
/** Groups are closed, in the order of the document; operations in the order in which features declare them. */
const SWAGGER_OPTIONS = { docExpansion: 'none', filter: true, deepLinking: true } as const
/** Responses are expanded, because they say more than samples, which are one click away. */
const REDOC_OPTIONS = { hideDownloadButtons: false, requiredPropsFirst: true, jsonSampleExpandLevel: 2 }

const redocPage = (base: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc API</title><link rel="icon" type="image/svg+xml" href="${base}${LOGO_PATH}"></head>
<body><div id="doc"></div><script src="${base}/api/redoc/redoc.standalone.js"></script>
<script src="${base}/api/redoc/start.js"></script></body></html>
`

/** Serves the document, and the two pages that show it with resources of this server only. */
const createDocsPages = (config: Config): Routes => async (app) => {
  const base = basePath(config)
  const logo = await readFile(new URL('../pages/logo.svg', import.meta.url))
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, public: true }
    route.schema = { ...route.schema, hide: true }
  })
  app.addHook('onSend', async (_request, reply) => { reply.header('content-security-policy', CSP) })
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    indexPrefix: base,
    uiConfig: SWAGGER_OPTIONS,
    logo: { type: 'image/svg+xml', content: logo, href: `${base}/`, target: '_self' },
    theme: {
      title: 'svc API',
      favicon: [{ filename: 'logo.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: logo }]
    }
  })

  let text: string | null = null
  const sendDocument = async () => (text ??= JSON.stringify(app.swagger()))
  for (const path of ['/openapi.json', '/api/openapi.json']) {
    app.get(path, async (_request, reply) => reply.type('application/json').send(await sendDocument()))
  }

  app.get('/api/redoc', async (_request, reply) => reply.type('text/html').send(redocPage(base)))
  app.get(LOGO_PATH, async (_request, reply) => reply.type('image/svg+xml').send(logo))
  app.get('/api/redoc/redoc.standalone.js', async (_request, reply) =>
    reply.type('text/javascript').send((await readFile(REDOC, 'utf8')).replace(REDOC_FOREIGN, EMPTY_PICTURE)))
  app.get('/api/redoc/start.js', async (_request, reply) => reply.type('text/javascript').send(
    `Redoc.init('${base}/openapi.json', ${JSON.stringify(REDOC_OPTIONS)}, document.getElementById('doc'))`))
}

export default createDocsPages
