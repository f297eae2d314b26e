"""Tests of what the driver reads from profiles and traces: python3 -m unittest discover Benchmarks/Driver"""

import unittest
import unittest.mock

import instructions
import messages
import operations
import record

def call(name, type, count, result):
    return rf'{name}(5, {{msg_iov=[{{iov_base="\x6c\x{type:02x}\x00\x01"..., iov_len={count}}}]}}, 0) = {result}'


def sends(count, type=messages.METHOD_CALL):
    return call("sendmsg", type, count, count)


def receives(type=messages.METHOD_RETURN, head=16):
    return call("recvmsg", type, head, head)


MARK = "getppid() = 7"


class CountingTests(unittest.TestCase):
    def test_a_profile_without_totals_is_an_error(self):
        self.assertEqual(instructions.total(["events: Ir\n", "totals: 5020\n"]), 5020)
        with self.assertRaises(instructions.Failure):
            instructions.total(["events: Ir\n"])

    def test_only_what_is_sent_between_the_last_marks_counts(self):
        calls = [MARK, sends(50), receives(), MARK, sends(60), MARK, sends(100), receives(), MARK, sends(70)]
        self.assertEqual(messages.between_marks(calls, "getppid"), messages.Sent(1, 1, 100))

    def test_messages_that_are_sent_together_are_one_wait(self):
        together = [sends(100), sends(200), receives(), receives(messages.ERROR)]
        one_by_one = [sends(30), receives(), sends(40, type=4), sends(50), receives()]
        calls = [MARK] * 3 + together + one_by_one + [MARK]
        self.assertEqual(messages.between_marks(calls, "getppid"), messages.Sent(3, 5, 420))

    def test_each_answer_to_sd_bus_ends_a_wait(self):
        calls = [MARK] * 3 + [sends(100), receives(head=24), sends(100), receives(head=24), MARK]
        self.assertEqual(messages.between_marks(calls, "getppid").waits, 2)

    def test_a_message_in_several_parts_has_the_type_in_the_first(self):
        body = r'{iov_base="\x01\x02\x00\x01"..., iov_len=20}'
        parts = sends(60).replace("}]", "}, " + body + "]")
        calls = [MARK] * 3 + [parts, receives(), MARK]
        self.assertEqual(messages.between_marks(calls, "getppid"), messages.Sent(1, 1, 60))

    def test_a_signal_ends_no_wait(self):
        calls = [MARK] * 3 + [sends(100), receives(type=4), sends(100), receives(), receives(), MARK]
        self.assertEqual(messages.between_marks(calls, "getppid").waits, 1)

    def test_an_answer_to_an_earlier_call_ends_no_wait(self):
        calls = [MARK, MARK, sends(10), MARK, receives(), sends(100), receives(), sends(100), receives(), MARK]
        self.assertEqual(messages.between_marks(calls, "getppid").waits, 2)

    def test_a_call_that_another_thread_interrupts_is_whole(self):
        trace = ["7 sendmsg(5, <unfinished ...>\n", "8 getppid() = 7\n", "7 <... sendmsg resumed>) = 9\n"]
        self.assertEqual(list(messages.finished(trace)), ["getppid() = 7", "sendmsg(5,) = 9"])

    def test_a_trace_that_ends_early_is_an_error(self):
        with self.assertRaises(messages.Failure):
            messages.between_marks([MARK, sends(50), MARK], "getppid")

    def test_the_path_of_the_counted_file_is_the_same_length_in_every_repository(self):
        self.assertFalse(operations.DIRECTORY.is_relative_to(operations.REPOSITORY))

    def test_each_run_is_compared_with_c_in_the_same_run(self):
        # C needs less than usual in the first run, and the usual number in the second.
        self.assertEqual(self.counted([160, 97, 157, 100], most=1.55), 1.57)

    def test_the_run_in_the_middle_is_recorded(self):
        self.assertEqual(self.counted([160, 100, 153, 100, 157, 100], most=None), 1.57)

    def counted(self, numbers, most):
        """Returns the figure of an operation whose contenders take turns with these numbers of instructions."""
        operation = operations.Operation("Read", {"Swift": [], "C": []}, "C")
        with unittest.mock.patch.object(instructions, "count", side_effect=numbers):
            found, _ = record.figure(operation, "read", most)
        return found


if __name__ == "__main__":
    unittest.main()
