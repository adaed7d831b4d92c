import fc from 'fast-check'
import t from 'tap'
import { createMask, isSecretName } from '../../../core/http/mask.ts'
import { character } from '../../any-string.ts'

t.test('parameters and headers with credentials are recognised by their names', async (t) => {
  for (const name of ['key', 'apikey', 'api_key', 'apiKey', 'api-key', 'X-Api-Key', 'token', 'access_token', 'secret',
    'client_secret', 'password', 'devpassword', 'sspassword', 'passwd', 'pass', 'auth', 'Authorization', 'cookie',
    'Proxy-Authorization', 'sig', 'signature', 'X-Amz-Signature', 'X-Auth-Token']) t.ok(isSecretName(name), name)
  for (const name of ['keywords', 'monkey', 'q', 'name', 'author', 'design', 'compass', 'page', 'sha1', 'softname']) {
    t.notOk(isSecretName(name), name)
  }
})

t.test('values of such parameters are masked, and the rest stays readable', async (t) => {
  const mask = createMask([])
  const path = (url: string) => mask.path(new URL(url))
  t.equal(path('https://a.example/api?ssid=me&sspassword=x&romnom=Zelda%20(Europe).zip'),
    '/api?ssid=me&sspassword=***&romnom=Zelda%20(Europe).zip')
  t.equal(path('https://a.example/?key='), '/?key=***')
  t.equal(path('https://a.example/?key'), '/?key')
  t.equal(path('https://a.example/?api%5Fkey=x&%zz=1&TOKEN=y'), '/?api%5Fkey=***&%zz=1&TOKEN=***')
  t.equal(mask.url(new URL('https://me:word@a.example:444/x#key')), 'a.example:444/x')
})

t.test('the path of a secret URL is masked too', async (t) => {
  const mask = createMask(['https://hooks.example/services/T0/abc?thread=12345'])
  t.equal(mask.url(new URL('https://hooks.example/services/T0/abc?thread=12345')), 'hooks.example***?***')
  t.equal(mask.text('posting to /services/T0/abc'), 'posting to ***')
  t.equal(createMask(['http://nas.lan/']).path(new URL('http://nas.lan/a/b')), '/a/b')
})

t.test('longer secrets are masked first, and an empty one masks nothing', async (t) => {
  t.equal(createMask(['abc', 'abcdef', '']).text('abcdef abc'), '*** ***')
})

t.test('every encoding of a secret is masked', async (t) => {
  const secrets = fc.array(fc.string({ minLength: 6, unit: character }).filter((secret) => !secret.includes('*')),
    { minLength: 1, maxLength: 3 })
  t.doesNotThrow(() => fc.assert(fc.property(secrets, (secrets) => {
    const mask = createMask(secrets)
    return secrets.every((secret) => {
      const url = new URL('https://a.example/p')
      url.searchParams.set('q', secret)
      const forms = [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
      const shown = [mask.path(url), ...forms.map((form) => mask.text(`<${form}>`))]
      return shown.every((text) => !forms.some((form) => text.includes(form)) && text.includes('***'))
    })
  })))
})
