/* global document, location, fetch, FormData, TextEncoder, btoa */
const base = document.currentScript.src.replace(/\/pair\/device\.js.*$/, '')
const byId = (id) => document.getElementById(id)
const say = (text) => { byId('message').textContent = text }

function show (id) {
  for (const form of document.forms) form.hidden = form.id !== id
}

/** Returns the CSRF token. A page of another site cannot read it, and so cannot send it. */
const readCsrf = () => /(?:^|; )svc_csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''

async function call (method, path, { body, headers } = {}) {
  const reply = await fetch(`${base}/api/${path}`, {
    method,
    headers: { 'x-csrftoken': readCsrf(), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body)
  })
  const text = await reply.text()
  const isJson = reply.headers.get('content-type')?.includes('json')
  const content = isJson ? JSON.parse(text) : { detail: text }
  if (reply.ok) return content
  const detail = content.detail
  throw Object.assign(new Error(typeof detail === 'string' ? detail : detail[0].msg), { status: reply.status })
}

/** Runs an action of the user, and shows the error if it fails. */
async function attempt (work) {
  say('')
  try {
    await work()
  } catch (err) {
    if (err.status === 401) await askToSignIn()
    say(err.message)
  }
}

function basicOf (username, password) {
  const bytes = new TextEncoder().encode(`${username}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

function drawScope (scope, isAllowed) {
  const label = document.createElement('label')
  const box = document.createElement('input')
  Object.assign(box, { type: 'checkbox', name: 'scope', value: scope, checked: isAllowed, disabled: !isAllowed })
  label.append(box, ` ${scope}${isAllowed ? '' : ' (you do not have this right)'}`)
  return label
}

async function askToSignIn () {
  show('sign-in')
  const { OIDC } = await call('GET', 'heartbeat')
  byId('openid').hidden = !OIDC.ENABLED
  byId('provider').textContent = OIDC.PROVIDER || 'OpenID Connect'
}

async function find (code) {
  const { id, username } = await call('GET', 'users/me')
  // The guest of kiosk mode cannot approve anything.
  if (id < 1) return askToSignIn()
  if (code === '') return show('find')
  const request = await call('GET', `auth/device/pending/${encodeURIComponent(code)}`).catch((err) => {
    show('find')
    throw err
  })
  byId('code').textContent = code.toUpperCase()
  byId('username').textContent = username
  byId('name').textContent = [request.name, request.platform].filter(Boolean).join(', ')
  byId('app').textContent = [request.client, request.client_version].filter(Boolean).join(' ')
  byId('scopes').replaceChildren(byId('scopes').firstElementChild,
    ...request.requested_scopes.map((scope) => drawScope(scope, request.allowed_scopes.includes(scope))))
  byId('answer').elements.device_name.value = request.name
  byId('answer').dataset.code = code
  show('answer')
}

async function answer (form, word) {
  const given = new FormData(form)
  const approval = {
    approved_scopes: given.getAll('scope'), device_name: given.get('device_name'), expires_in: given.get('expires_in')
  }
  const body = { user_code: form.dataset.code, ...(word === 'approve' ? approval : {}) }
  await call('POST', `auth/device/${word}`, { body })
  show('')
  say(word === 'approve' ? 'Approved. Continue on the device.' : 'Denied. The device gets no access.')
}

const asked = new URLSearchParams(location.search).get('user_code') ?? ''

function listen (id, work) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    attempt(() => work(event.target, event.submitter))
  })
}

listen('sign-in', async ({ elements: { username, password } }) => {
  await call('POST', 'login', { headers: { authorization: basicOf(username.value, password.value) } })
  password.value = ''
  await find(asked)
})
listen('find', async ({ elements }) => find(elements.user_code.value.trim()))
listen('answer', async (form, button) => answer(form, button.value))

find(asked).catch((err) => err.status === 401 ? askToSignIn() : say(err.message))
