"""Reads people from a platform's data: roles, ids of students, and the members of a course.

A claim is a named value in a launch, the signed message with which a platform sends a person here.
"""

from collections.abc import Mapping
from typing import Any

from grader.records import Student
from grader.serve.log import shown
from grader.serve.lti_calls import LtiError
from grader.serve.settings import Platform
from grader.serve.sign_in import INSTRUCTOR, STUDENT, can_sign_in

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
INSTITUTION = "http://purl.imsglobal.org/vocab/lis/v2/institution/person"
TEST_STUDENT = "test student"  # a student whom the platform has made up, to look at the course with
MOST_VARIABLE = 60  # characters of a variable that a message shows
LARGEST_NUMBER = 10**18  # that is an id

# In small letters: platforms write the short names in several ways.
IN_COURSE = {
    INSTRUCTOR: {"instructor", f"{MEMBERSHIP}#instructor", f"{MEMBERSHIP}/instructor#teachingassistant"},
    STUDENT: {"learner", f"{MEMBERSHIP}#learner"},
}
IN_INSTITUTION = {
    INSTRUCTOR: {f"{INSTITUTION}#instructor"},
    STUDENT: {f"{INSTITUTION}#student", f"{INSTITUTION}#learner"},
}
MADE_UP = "system/person#testuser"


def role_of(platform: Platform, roles: object) -> str | None:
    """Return a person's role in a course: INSTRUCTOR, STUDENT or TEST_STUDENT, or None for any other role.

    Args:
        roles: the list of roles in a launch or a roster.
    """
    listed = {role.lower() for role in roles if isinstance(role, str)} if isinstance(roles, list) else set()
    for known in (IN_COURSE, IN_INSTITUTION) if platform.preset.institution_roles else (IN_COURSE,):
        for role, names in known.items():
            if listed & names:
                made_up = role == STUDENT and any(each.endswith(MADE_UP) for each in listed)
                return TEST_STUDENT if made_up else role
    return None


def claim_at(claims: Mapping[str, Any], path: str) -> Any:
    """Return the claim at a path of names separated by `.`, or None if there is no such claim.

    A name may itself contain `.`. The path may shorten the names of LTI's own claims, as in
    `custom.login` or `lis.person_sourcedid`.
    """
    ends = [place for place, mark in enumerate(path) if mark == "."]
    for end in (len(path), *ends):  # first the whole path as one name, then names from the shortest on
        for name in (path[:end], CLAIM + path[:end]):
            value = claims.get(name)
            if end < len(path) and isinstance(value, Mapping):
                value = claim_at(value, path[end + 1 :])
            elif end < len(path):
                continue
            if value is not None:
                return value
    return None


def text_of_id(value: object) -> str:
    """Return an id, which may be a string or a number, as a string. Return "" for any other value."""
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_NUMBER
    return value if isinstance(value, str) else str(value) if is_number else ""


def filled_in(value: str, claim: str) -> str:
    """Return the value of a claim, unless it is a variable that the platform failed to replace.

    Args:
        claim: the name of the claim, for the message.

    Raises:
        LtiError: the value is the name of a variable. All students would get the same id.
    """
    if value.strip().startswith("$"):
        raise LtiError(
            f"Your platform sent {shown(value, MOST_VARIABLE)!r} as {claim}, which is the name of a variable and not "
            "its value. Tell your instructor to correct this variable in the platform's settings of the tool."
        )
    return value


def student_of(platform: Platform, member: object) -> Student | None:
    """Return a member of a roster as a student, or None if the member is not an active student.

    The student gets the id that a launch of the member would have.
    """
    if not isinstance(member, dict) or role_of(platform, member.get("roles")) != STUDENT:
        return None
    person = platform.prefix + _id_of(platform, member)
    if member.get("status", "Active") != "Active" or person == platform.prefix or not can_sign_in(person):
        return None
    first, last, email = (str(member.get(key) or "") for key in ("given_name", "family_name", "email"))
    return Student(id=person, first_name=first, last_name=last, email=email)


def _id_of(platform: Platform, member: Mapping[str, Any]) -> str:
    """Return the id that a launch of a member would contain, or "" if the roster does not contain this id."""
    told = member.get("message")  # what a launch of the member would say, if the roster is asked for one link
    message = told[0] if isinstance(told, list) and told and isinstance(told[0], dict) else {}
    sub = member.get("user_id") if platform.preset.roster_has_sub else None
    claims = {**member, **message, "sub": sub, "lis": {"person_sourcedid": member.get("lis_person_sourcedid")}}
    value = claim_at(claims, platform.student)
    found = text_of_id(member.get(platform.student.replace(".", "_")) if value is None else value)
    return "" if found.strip().startswith("$") else found
