import pg from 'pg'
import t from 'tap'
import { Platform } from '../../plugins/platforms/entities.ts'
import { buildTestApp } from '../support.ts'
t.test('x', async (t) => {
  const test = await buildTestApp(t)
  const { platform } = await test.app.platforms.ensure(test.app.orm.em.fork(), 'gb')
  const r = await test.app.inject({ method: 'PUT', url: `/api/platforms/${platform.id}`, headers: test.admin, payload: { custom_name: 'Brick', description: 'Grey' } })
  t.comment(r.body)
  test.app.orm.config.getLogger()
  const up = test.app.platforms.update
  test.app.platforms.update = (em, v, id, input) => { t.comment('INPUT', JSON.stringify(input)); return up(em, v, id, input) }
  const sent = t.capture(pg.Client.prototype, 'query', pg.Client.prototype.query)
  for (const payload of [{ description: null }, { custom_name: 'y' }, {description: 'a'}, {custom_name: ''}]) {
  const r = await test.app.inject({ method: 'PUT', url: `/api/platforms/${platform.id}`, headers: test.admin, payload })
  t.comment(JSON.stringify(payload), r.body.slice(0, 130))
  t.comment(JSON.stringify(sent().map(x => x.args[0]).filter(x => /update|insert/.test(JSON.stringify(x)))).slice(0,800))
  }
})
