"""Jobs at set times."""

from typing import Annotated

from fastapi import APIRouter, Path

from api.deps import ScopeDep
from api.pages import Page, PageDep
from api.schemas.schedules import ScheduleIn, ScheduleOut
from skillhub.services import schedules

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])

ScheduleName = Annotated[str, Path(pattern="^[a-z0-9][a-z0-9._-]{0,99}$")]


@router.get("")
def list_schedules(scope: ScopeDep, page: PageDep) -> Page[ScheduleOut]:
    """Schedules by name."""
    rows = schedules.page(scope, after=page.after, limit=page.fetch)
    return page.page(rows, key=lambda row: row.name, item=ScheduleOut.of)


@router.get("/{name}")
def get_schedule(name: str, scope: ScopeDep) -> ScheduleOut:
    """When it runs next, and the job of its last time."""
    return ScheduleOut.of(schedules.get(scope, name))


@router.put("/{name}")
def put_schedule(name: ScheduleName, body: ScheduleIn, scope: ScopeDep) -> ScheduleOut:
    """Make or replace a schedule: one job at each due time; times missed while no worker ran give one job together."""
    return ScheduleOut.of(schedules.put(scope, name, body.input()))


@router.delete("/{name}", status_code=204)
def delete_schedule(name: str, scope: ScopeDep) -> None:
    """Its jobs stay."""
    schedules.delete(scope, name)
